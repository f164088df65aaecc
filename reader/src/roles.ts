import type { Role } from "./gql/graphql";
import { Observable, useObservable } from "./observable";
import { useSession } from "./session";
import { storage } from "./storage";

/** What a user moderates: the whole site, some groups, or nothing. */
export interface Roles {
  /** Admins also give roles, and moderate the whole site. */
  isAdmin: boolean;
  /** Whether they moderate the whole site. */
  isOfSite: boolean;
  /** The names of the groups of which they are a moderator by a role of their own, in the order of their grants. */
  groups: readonly string[];
}

interface Grant {
  role: Role;
  group?: { name: string } | null;
}

interface Viewer {
  username: string;
  roles: readonly Grant[];
}

const NONE: Roles = { isAdmin: false, isOfSite: false, groups: [] };

const KEY = "upvote-roles"; // of localStorage

interface Known {
  username: string;
  roles: Roles;
}

/** The roles of the user who is logged in, as the data of the last page told them; null if that had no viewer. */
const known = new Observable<Known | null>(stored());

/** Keeps the roles of the viewer, which each page asks for with its own data: see `usePageQuery` in frame.ts. */
export function noteRoles(viewer: Viewer | null | undefined): void {
  const next = viewer ? { username: viewer.username, roles: rolesOf(viewer.roles) } : null;
  if (JSON.stringify(next) === JSON.stringify(known.get())) return;
  storage.write(KEY, next && moderatesAnything(next.roles) ? JSON.stringify(next) : null);
  known.set(next);
}

/** The roles of an earlier visit, so that the header has its size before the first page tells them. */
function stored(): Known | null {
  try {
    return JSON.parse(storage.read(KEY) ?? "null") as Known | null;
  } catch {
    return null;
  }
}

/** The roles of the user who is logged in. */
export function useRoles(): Roles {
  const session = useSession();
  const noted = useObservable(known);
  return session !== null && noted?.username === session.username ? noted.roles : NONE;
}

/** What somebody with these grants moderates. */
export function rolesOf(grants: readonly Grant[]): Roles {
  const ofSite = grants.filter(({ group }) => !group);
  return {
    isAdmin: ofSite.some(({ role }) => role === "ADMIN"),
    isOfSite: ofSite.length > 0,
    groups: grants.flatMap(({ group }) => group?.name ?? []),
  };
}

/** Whether somebody with these roles moderates anything. */
export const moderatesAnything = ({ isOfSite, groups }: Roles): boolean => isOfSite || groups.length > 0;

/** Whether somebody with `roles` moderates what is in any of these groups; if none are given, what is in no group. */
export function moderates(roles: Roles, groups: readonly string[]): boolean {
  return roles.isOfSite || groups.some((group) => roles.groups.includes(group));
}
