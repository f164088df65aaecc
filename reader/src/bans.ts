import { Observable, useObservable } from "./observable";
import { useSession } from "./session";

/** A ban from the whole site. */
export interface Ban {
  userId: string;
  /** When it ends, in ISO 8601; null if it is for good. */
  until: string | null;
}

interface Viewer {
  id: string;
  username: string;
  isBanned: boolean;
  bannedUntil: string | null;
}

/** The ban of the user who is logged in, as the data of the last page told it. */
const known = new Observable<{ username: string; ban: Ban } | null>(null);

/** Keeps whether the viewer is banned, which each page asks for with its own data: see `usePageQuery` in frame.ts. */
export function noteBan(viewer: Viewer | null | undefined): void {
  const next = viewer?.isBanned
    ? { username: viewer.username, ban: { userId: viewer.id, until: viewer.bannedUntil } }
    : null;
  if (JSON.stringify(next) !== JSON.stringify(known.get())) known.set(next);
}

/** The ban of the user who is logged in; null without one. */
export function useBan(): Ban | null {
  const session = useSession();
  const noted = useObservable(known);
  return session !== null && noted?.username === session.username ? noted.ban : null;
}
