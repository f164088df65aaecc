import type { AnnulmentState, ModerationKind, Role } from "../gql/graphql";
import { moderates, rolesOf, useRoles, type Roles } from "../roles";
import { useSession } from "../session";

// Who may do what, as the server decides it in store/scripts/lib/roles.lua: what it would refuse is not offered.

export interface UserWithRoles {
  username: string;
  roles: readonly { role: Role; group?: { name: string } | null }[];
}

/** An article or a comment. A comment has the groups of its article. */
export interface Text {
  id: string;
  /** Null if the user was deleted. */
  poster: UserWithRoles | null;
  groups: readonly string[];
}

export interface Moderator {
  username: string;
  roles: Roles;
}

/** The user who is logged in, as a moderator. */
export function useModerator(): Moderator {
  return { username: useSession()?.username ?? "", roles: useRoles() };
}

/**
 * Whether somebody with `roles` may act in some groups on a user with the roles `others`: admins on everybody, moderators
 * on users of a lower role.
 */
function outranks(roles: Roles, others: Roles, groups: readonly string[]): boolean {
  if (roles.isAdmin) return true;
  if (roles.isOfSite) return !others.isOfSite;
  return moderates(roles, groups) && !moderates(others, groups);
}

/**
 * Whether somebody may act on a text; with a group, whether they may act on it there. To act on an article as a whole
 * needs a role in all of its groups.
 */
export function mayModerate(moderator: Moderator, { id, poster, groups }: Text, group: string | null = null): boolean {
  const { username, roles } = moderator;
  if (roles.isAdmin) return true;
  if (poster?.username === username) return false;
  const moderatesAll = roles.isOfSite || (groups.length > 0 && groups.every((each) => moderates(roles, [each])));
  const isWhole = group === null && id.startsWith("article:");
  return (!isWhole || moderatesAll) && outranks(roles, rolesOf(poster?.roles ?? []), group === null ? groups : [group]);
}

/** The groups of an article out of which somebody may take it. */
export function groupsToLeave(moderator: Moderator, text: Text): string[] {
  if (!text.id.startsWith("article:")) return [];
  return text.groups.filter((group) => mayModerate(moderator, text, group));
}

/** The groups from which a moderator of groups may ban a user. */
export function groupsToBan({ roles }: Moderator, user: UserWithRoles): string[] {
  return roles.groups.filter((group) => outranks(roles, rolesOf(user.roles), [group]));
}

/** Whether somebody may ban a user: from the whole site on the same conditions as for annulling votes, or from groups. */
export function mayBan(moderator: Moderator, user: UserWithRoles): boolean {
  if (user.username === moderator.username) return false;
  return moderator.roles.isOfSite ? mayAnnul(moderator, user) : groupsToBan(moderator, user).length > 0;
}

/** Whether somebody may annul the votes of a user. */
export function mayAnnul({ username, roles }: Moderator, user: UserWithRoles): boolean {
  return roles.isOfSite && user.username !== username && outranks(roles, rolesOf(user.roles), []);
}

/** What an action is about; null if it is gone, or the viewer may not read it. */
export type About = { user: UserWithRoles } | { text: Text } | null;

interface Action {
  kind: ModerationKind;
  subjectId: string;
  group?: { name: string } | null;
  revertedBy?: unknown;
  annulment?: { state: AnnulmentState } | null;
}

const NEVER_REVERTED: ReadonlySet<ModerationKind> = new Set(["PURGE", "REJECT_EDIT", "REVERT"]);

/**
 * Whether a ban was reverted but for the votes that it has annulled, which still do not count: a second revert restores
 * them.
 */
const hasKeptVotes = ({ revertedBy, annulment }: Action): boolean =>
  Boolean(revertedBy) && (annulment?.state === "RUNNING" || annulment?.state === "DONE");

/** Whether somebody may revert an action. */
export function mayRevert(moderator: Moderator, action: Action, about: About): boolean {
  if (action.revertedBy && !hasKeptVotes(action)) return false;
  return !NEVER_REVERTED.has(action.kind) && mayDecide(moderator, action, about);
}

/** Whether somebody may answer the appeal against an action, which is by the user whom it is about. */
export function mayAnswer(moderator: Moderator, action: Action, about: About): boolean {
  if (about === null || !mayDecide(moderator, action, about)) return false;
  const author = "user" in about ? about.user : about.text.poster;
  return author?.username !== moderator.username;
}

/** Whether somebody may decide that an action is reverted, or that it stays. */
function mayDecide(moderator: Moderator, { kind, subjectId, group }: Action, about: About): boolean {
  const { roles } = moderator;
  const groups = group ? [group.name] : []; // none: the whole site
  const isOutOfGroup = kind === "REMOVE" && subjectId.startsWith("article:") && Boolean(group);
  if (about === null) return isOutOfGroup && moderates(roles, groups); // it may be in no group of the viewer any more
  if ("text" in about) {
    const isOfGroup = isOutOfGroup || subjectId.startsWith("comment:");
    return mayModerate(moderator, about.text, isOfGroup ? (group?.name ?? null) : null);
  }
  if (kind === "BAN") return about.user.username !== moderator.username && moderates(roles, groups);
  if (kind === "ANNUL_VOTES") return about.user.username !== moderator.username && roles.isOfSite;
  return roles.isAdmin;
}
