import { Observable, useObservable } from "./observable";
import { useSession } from "./session";

/** That somebody is banned from the whole site. */
export interface Ban {
  userId: string;
  /** When it ends; null if it is for good. */
  until: string | null;
}

interface Viewer {
  id: string;
  username: string;
  isBanned: boolean;
  bannedUntil: string | null;
}

const known = new Observable<{ username: string; ban: Ban } | null>(null);

/** Each page asks with its own data whether the viewer is banned: see `usePageQuery`. */
export function noteBan(viewer: Viewer | null | undefined): void {
  const next = viewer?.isBanned
    ? { username: viewer.username, ban: { userId: viewer.id, until: viewer.bannedUntil } }
    : null;
  if (JSON.stringify(next) !== JSON.stringify(known.get())) known.set(next);
}

/** The ban of whoever is logged in from the whole site, as the last page has told it. */
export function useBan(): Ban | null {
  const session = useSession();
  const noted = useObservable(known);
  return session !== null && noted?.username === session.username ? noted.ban : null;
}
