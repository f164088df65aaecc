import type { ModerationKind, Role } from "./gql/graphql";
import { fullTime } from "./times";

/** What a sentence about an action of a moderator is made of. */
export interface Action {
  kind: ModerationKind;
  subjectId: string;
  group?: { name: string } | null;
  expiresAt?: string | null;
  /** That of a grant or a revocation. */
  role?: Role | null;
  reverts?: { kind: ModerationKind } | null;
  revertedBy?: { id: string } | null;
}

/** What a moderator did, in a sentence for the user whom it concerns. `now` is in unix milliseconds. */
export function sentenceOf(action: Action, now: number): string {
  const { kind, reverts } = action;
  return kind === "REVERT" ? revertOf(action, reverts?.kind) : SENTENCES[kind](action, now);
}

const SENTENCES: Record<Exclude<ModerationKind, "REVERT">, (action: Action, now: number) => string> = {
  ANNUL_VOTES: () => "A moderator annulled votes of yours: they do not count any more",
  APPROVE: (action) => `A moderator approved ${thingOf(action)}`,
  BAN: (action, now) =>
    `${isOver(action, now) ? "You were" : "You are"} banned from ${placeOf(action)} ${endOf(action)}`,
  GRANT_ROLE: (action) =>
    isRoleKnown(action) ? `You are now ${roleOf(action)}` : "You were given a role on this site",
  LOCK: (action) => `A moderator locked ${thingOf(action)}`,
  PURGE: (action) => `A moderator deleted ${thingOf(action)} for good`,
  REJECT_EDIT: (action) => `A moderator rejected your edit: ${thingOf(action)} stays as it was`,
  REMOVE: (action) =>
    isOutOfGroup(action)
      ? `A moderator took your article out of ${placeOf(action)}`
      : `A moderator removed ${thingOf(action)}`,
  REVOKE_ROLE: (action) =>
    isRoleKnown(action) ? `You are no longer ${roleOf(action)}` : "A role that you had on this site was taken from you",
};

function revertOf(action: Action, kind: ModerationKind | undefined): string {
  const thing = thingOf(action);
  switch (kind) {
    case "ANNUL_VOTES":
      return "A moderator restored votes of yours: they count again";
    case "APPROVE":
      return `A moderator took back the approval of ${thing}`;
    case "BAN":
      return `A moderator took back your ban from ${placeOf(action)}`;
    case "GRANT_ROLE":
      return SENTENCES.REVOKE_ROLE(action, 0);
    case "LOCK":
      return `A moderator unlocked ${thing}`;
    case "REMOVE":
      return isOutOfGroup(action)
        ? `A moderator put your article back into ${placeOf(action)}`
        : `A moderator restored ${thing}`;
    case "REVOKE_ROLE":
      return isRoleKnown(action) ? `You are ${roleOf(action)} again` : "A role on this site was given back to you";
    default:
      return `A moderator took back a decision about ${thing}`;
  }
}

/** Whether a ban has ended, or was taken back. */
function isOver({ expiresAt, revertedBy }: Action, now: number): boolean {
  return Boolean(revertedBy) || (expiresAt ? Date.parse(expiresAt) <= now : false);
}

/** An article was taken out of one group. A comment is removed as a whole, also by a moderator of a group. */
const isOutOfGroup = ({ group, subjectId }: Action): boolean => Boolean(group) && subjectId.startsWith("article:");

const placeOf = ({ group }: Action): string => (group ? `the group ${group.name}` : "this site");

/** A role in a group is that of a moderator. Actions of an earlier version may not tell that of the site. */
const isRoleKnown = ({ role, group }: Action): boolean => Boolean(role ?? group);

const roleOf = (action: Action): string => (action.role === "ADMIN" ? "an admin" : `a moderator of ${placeOf(action)}`);

const endOf = ({ expiresAt }: Action): string => (expiresAt ? `until ${fullTime(Date.parse(expiresAt))}` : "for good");

function thingOf({ subjectId }: Action): string {
  const type = subjectId.slice(0, subjectId.indexOf(":"));
  return type === "user" ? "your account" : `your ${type}`;
}

/**
 * What a moderator did, for everybody: the words before and after the name of what it is about, as in "banned",
 * "from this site for good".
 */
export function wordsOf(action: Action): [before: string, after: string] {
  const { kind, reverts } = action;
  return kind === "REVERT" ? revertedWordsOf(action, reverts?.kind) : WORDS[kind](action);
}

/** What a moderator did, where its subject is known, such as "banned them from this site for good". */
export function phraseOf(action: Action): string {
  const [before, after] = wordsOf(action);
  return `${before} ${action.subjectId.startsWith("user:") ? "them" : "it"} ${after}`.trim();
}

const WORDS: Record<Exclude<ModerationKind, "REVERT">, (action: Action) => [string, string]> = {
  ANNUL_VOTES: () => ["annulled votes of", ""],
  APPROVE: () => ["approved", ""],
  BAN: (action) => ["banned", `from ${placeOf(action)} ${endOf(action)}`],
  GRANT_ROLE: (action) => (isRoleKnown(action) ? ["made", roleOf(action)] : ["gave", "a role on this site"]),
  LOCK: () => ["locked", ""],
  PURGE: () => ["deleted", "for good"],
  REJECT_EDIT: () => ["rejected an edit of", ""],
  REMOVE: (action) => (isOutOfGroup(action) ? ["took", `out of ${placeOf(action)}`] : ["removed", ""]),
  REVOKE_ROLE: (action) => ["took from", isRoleKnown(action) ? `the role of ${roleOf(action)}` : "a role on this site"],
};

function revertedWordsOf(action: Action, kind: ModerationKind | undefined): [string, string] {
  switch (kind) {
    case "ANNUL_VOTES":
      return ["restored votes of", ""];
    case "APPROVE":
      return ["took back the approval of", ""];
    case "BAN":
      return ["took back the ban of", `from ${placeOf(action)}`];
    case "GRANT_ROLE":
      return WORDS.REVOKE_ROLE(action);
    case "LOCK":
      return ["unlocked", ""];
    case "REMOVE":
      return isOutOfGroup(action) ? ["put", `back into ${placeOf(action)}`] : ["restored", ""];
    case "REVOKE_ROLE":
      return isRoleKnown(action) ? ["made", `${roleOf(action)} again`] : ["gave", "a role on this site again"];
    default:
      return ["took back a decision about", ""];
  }
}

/** What removed an article or a comment, among actions on it, the newest first; undefined if it is not removed. */
export function removalIn<A extends Action>(actions: readonly A[]): A | undefined {
  const standing = actions.filter(({ revertedBy }) => !revertedBy);
  const decision = standing.find((each) => each.kind === "PURGE" || each.kind === "APPROVE" || isRemoval(each));
  return decision?.kind === "APPROVE" ? undefined : decision;
}

const isRemoval = (action: Action): boolean => action.kind === "REMOVE" && !isOutOfGroup(action);

/** The ban from the whole site that ends last, among actions on a user; undefined without one. `now` is in unix milliseconds. */
export function banIn<A extends Action>(actions: readonly A[], now: number): A | undefined {
  const standing = actions.filter((each) => each.kind === "BAN" && !each.group && !isOver(each, now));
  const endOf = ({ expiresAt }: Action) => (expiresAt ? Date.parse(expiresAt) : Infinity);
  return standing.reduce<A | undefined>((last, each) => (last && endOf(last) >= endOf(each) ? last : each), undefined);
}

const AGAINST: ReadonlySet<ModerationKind> = new Set([
  "ANNUL_VOTES",
  "BAN",
  "LOCK",
  "PURGE",
  "REJECT_EDIT",
  "REMOVE",
  "REVOKE_ROLE",
]);

/** Whether the user whom an action is about would want to answer it: it is against them, and stands. */
export const mayAppeal = ({ kind, revertedBy }: Action): boolean => AGAINST.has(kind) && !revertedBy;
