import type { ModerationKind, Role } from "./gql/graphql";
import { fullTime, utcTime } from "./times";
import { t } from "./words";

// Actions of moderators in words. The kinds that do not explain themselves: ANNUL_VOTES makes votes of a user count no
// longer, PURGE deletes a text for good, and REVERT undoes another action.

/** An action of a moderator, with the fields that the sentences about it use. */
export interface Action {
  id?: string;
  kind: ModerationKind;
  /** The article, comment or user that it is about. */
  subjectId: string;
  /** The group in which it was done; null for the whole site. */
  group?: { name: string } | null;
  expiresAt?: string | null;
  /** The role that was granted or revoked. */
  role?: Role | null;
  reverts?: { kind: ModerationKind; revertedBy?: { id: string } | null } | null;
  revertedBy?: { id: string } | null;
}

/** A sentence about an action of a moderator, for the user whom it concerns. `now` is in unix milliseconds. */
export function sentenceOf(action: Action, now: number): string {
  const given = { thing: thingOf(action), ...givenOf(action, fullTime) };
  return t(sentenceIdOf(action, now), given);
}

/** The ids of the texts for `sentenceOf`, by the kind of an action; below those for reverts, by the reverted kind. */
const SENTENCES: Record<Exclude<ModerationKind, "REVERT">, string> = {
  ANNUL_VOTES: "said-annulled",
  APPROVE: "said-approved",
  BAN: "said-banned",
  GRANT_ROLE: "said-granted",
  LOCK: "said-locked",
  PURGE: "said-purged",
  REJECT_EDIT: "said-edit-rejected",
  REMOVE: "said-removed",
  REVOKE_ROLE: "said-revoked",
};

const REVERTED_SENTENCES: Partial<Record<ModerationKind, string>> = {
  ANNUL_VOTES: "said-restored-votes",
  APPROVE: "said-disapproved",
  BAN: "said-unbanned",
  GRANT_ROLE: "said-revoked",
  LOCK: "said-unlocked",
  REMOVE: "said-restored",
  REVOKE_ROLE: "said-role-again",
};

function sentenceIdOf(action: Action, now: number): string {
  const { kind, reverts } = action;
  if (kind === "REVERT") {
    if (reverts?.kind === "REMOVE" && isOutOfGroup(action)) return "said-back-in-group";
    return withRole(action, (reverts && REVERTED_SENTENCES[revertedKind(action, reverts)]) ?? "said-took-back");
  }
  if (kind === "BAN" && isOver(action, now)) return "said-was-banned";
  if (kind === "REMOVE" && isOutOfGroup(action)) return "said-out-of-group";
  return withRole(action, SENTENCES[kind]);
}

/** What a revert has undone. The second one of a ban has only restored votes that the first has left annulled. */
const revertedKind = ({ id }: Action, { kind, revertedBy }: NonNullable<Action["reverts"]>): ModerationKind =>
  revertedBy && revertedBy.id !== id ? "ANNUL_VOTES" : kind;

/** The texts that name a role. */
const OF_ROLES: ReadonlySet<string> = new Set([
  "said-granted",
  "said-revoked",
  "said-role-again",
  "did-grant",
  "did-revoke",
  "did-role-again",
]);

/** The id of a text; the id of its variant without the role if the role cannot be named. */
const withRole = (action: Action, id: string): string => (OF_ROLES.has(id) && !isRoleKnown(action) ? `${id}-some` : id);

/** Whether a ban has ended, or was taken back. */
function isOver({ expiresAt, revertedBy }: Action, now: number): boolean {
  return Boolean(revertedBy) || (expiresAt ? Date.parse(expiresAt) <= now : false);
}

/** Whether an article was taken out of one group. A comment is removed as a whole, also by a moderator of a group. */
const isOutOfGroup = ({ group, subjectId }: Action): boolean => Boolean(group) && subjectId.startsWith("article:");

const placeOf = ({ group }: Action): string => (group ? t("place-group", { group: group.name }) : t("place-site"));

/** Whether the role can be named. Actions of an earlier version may lack it; in a group it can only be moderator. */
const isRoleKnown = ({ role, group }: Action): boolean => Boolean(role ?? group);

const roleOf = (action: Action): string =>
  action.role === "ADMIN" ? t("role-admin") : t("role-moderator-of", { place: placeOf(action) });

const endOf = ({ expiresAt }: Action, timeOf: (instant: number) => string): string =>
  expiresAt ? t("end-until", { until: timeOf(Date.parse(expiresAt)) }) : t("end-for-good");

/** The variables that the texts may have: the group or the site, the role, and when a ban ends. */
const givenOf = (action: Action, timeOf: (instant: number) => string) => ({
  place: placeOf(action),
  role: roleOf(action),
  end: endOf(action, timeOf),
});

function thingOf({ subjectId }: Action): string {
  const type = subjectId.slice(0, subjectId.indexOf(":"));
  return t(type === "user" ? "thing-account" : type === "comment" ? "thing-comment" : "thing-article");
}

/**
 * The words before and after the name of the subject that say to everybody what a moderator did, such as "banned" and
 * "from this site for good". Times are UTC.
 */
export function wordsOf(action: Action): [before: string, after: string] {
  const [before = "", after = ""] = t(doneIdOf(action), givenOf(action, utcTime)).split("<subject/>");
  return [before.trim(), after.trim()];
}

/** As `wordsOf`, with a pronoun where the subject is known, such as "banned them from this site for good". */
export function phraseOf(action: Action): string {
  const [before, after] = wordsOf(action);
  return `${before} ${t(action.subjectId.startsWith("user:") ? "subject-them" : "subject-it")} ${after}`.trim();
}

/** The ids of the texts for `wordsOf`, by the kind of an action; below those for reverts, by the reverted kind. */
const DONE: Record<Exclude<ModerationKind, "REVERT">, string> = {
  ANNUL_VOTES: "did-annul",
  APPROVE: "did-approve",
  BAN: "did-ban",
  GRANT_ROLE: "did-grant",
  LOCK: "did-lock",
  PURGE: "did-purge",
  REJECT_EDIT: "did-reject-edit",
  REMOVE: "did-remove",
  REVOKE_ROLE: "did-revoke",
};

const REVERTED: Partial<Record<ModerationKind, string>> = {
  ANNUL_VOTES: "did-restore-votes",
  APPROVE: "did-disapprove",
  BAN: "did-unban",
  GRANT_ROLE: "did-revoke",
  LOCK: "did-unlock",
  REMOVE: "did-restore",
  REVOKE_ROLE: "did-role-again",
};

function doneIdOf(action: Action): string {
  const { kind, reverts } = action;
  if (kind === "REVERT") {
    if (reverts?.kind === "REMOVE" && isOutOfGroup(action)) return "did-back-in-group";
    return withRole(action, (reverts && REVERTED[revertedKind(action, reverts)]) ?? "did-take-back");
  }
  return kind === "REMOVE" && isOutOfGroup(action) ? "did-out-of-group" : withRole(action, DONE[kind]);
}

/**
 * The reasons that the server gives itself, because of a ban or as defaults of its commands, and the ids of the texts for
 * them.
 */
const OF_SERVER: readonly [reason: RegExp, id: string][] = [
  [/^removed with the ban action:\d+$/, "with-ban"],
  [/^the ban action:\d+ is reverted$/, "with-ban-reverted"],
  [/^named by UPVOTE_ADMIN at the first start$/, "named-at-start"],
  [/^by a command of the shell$/, "by-shell"],
  [/^all actions of this moderator since then are reverted$/, "all-reverted"],
  [/^it must not stay$/, "must-not-stay"],
];

/** What is said instead of a reason that the server has given itself; null for reasons of moderators. */
export function reasonWords(reason: string): string | null {
  const found = OF_SERVER.find(([pattern]) => pattern.test(reason));
  return found ? t(found[1]) : null;
}

/** The action that removed an article or a comment; undefined if it is not removed. `actions` has the newest first. */
export function removalIn<A extends Action>(actions: readonly A[]): A | undefined {
  const standing = actions.filter(({ revertedBy }) => !revertedBy);
  // the newest one decides
  const decision = standing.find((each) => each.kind === "PURGE" || each.kind === "APPROVE" || isRemoval(each));
  return decision?.kind === "APPROVE" ? undefined : decision;
}

/** Whether one of these actions took an article out of a group, and is not reverted. */
export const hasLeftGroup = (actions: readonly Action[]): boolean =>
  actions.some((each) => each.kind === "REMOVE" && isOutOfGroup(each) && !each.revertedBy);

const isRemoval = (action: Action): boolean => action.kind === "REMOVE" && !isOutOfGroup(action);

/** Of actions on a user, the ban from the whole site that ends last, at `now` in unix milliseconds; or undefined. */
export function banIn<A extends Action>(actions: readonly A[], now: number): A | undefined {
  const standing = actions.filter((each) => each.kind === "BAN" && !each.group && !isOver(each, now));
  const endTime = ({ expiresAt }: Action) => (expiresAt ? Date.parse(expiresAt) : Infinity);
  return standing.reduce<A | undefined>(
    (last, each) => (last && endTime(last) >= endTime(each) ? last : each),
    undefined,
  );
}

/** The kinds of actions that are against the user whom they are about. */
const AGAINST: ReadonlySet<ModerationKind> = new Set([
  "ANNUL_VOTES",
  "BAN",
  "LOCK",
  "PURGE",
  "REJECT_EDIT",
  "REMOVE",
  "REVOKE_ROLE",
]);

/** Whether the user whom an action is about may appeal against it: it is against them, and not reverted. */
export const mayAppeal = ({ kind, revertedBy }: Action): boolean => AGAINST.has(kind) && !revertedBy;
