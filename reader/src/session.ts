import { useState } from "react";
import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

/**
 * Who is logged in. The token is in a cookie that no script can read; this is what the page knows of it. `began`, in
 * unix milliseconds, tells the sessions of one user apart.
 */
export interface Session {
  username: string;
  began: number;
}

const KEY = "upvote-session"; // of localStorage

const session = new Observable<Session | null>(stored());

/** The session of all tabs, until it ends. */
export const useSession = (): Session | null => useObservable(session);

export const currentSession = session.get;

/** Whether a username is that of the viewer. */
export const useIsViewer = (username: string): boolean =>
  useSession()?.username.toLowerCase() === username.toLowerCase();

/**
 * Notes that a user has logged in. The other tabs learn of it by the event `storage`, and connect anew as this one
 * does.
 */
export function beginSession(username: string): void {
  const begun = { username, began: Date.now() };
  storage.write(KEY, JSON.stringify(begun));
  session.set(begun);
}

export function endSession(): void {
  storage.write(KEY, null);
  session.set(null);
}

/**
 * Call it when the server says that `ended` is not the session of the browser any more. Another tab may have begun one,
 * which this page then takes; else its session ends. Returns the session of this page.
 */
export function leaveSession(ended: Session): Session | null {
  const kept = stored();
  if (kept && kept.began !== ended.began) session.set(kept);
  else endSession();
  return session.get();
}

window.addEventListener("storage", ({ key }) => {
  if (key === KEY || key === null) session.set(stored());
});

/** The session that is kept. What earlier versions kept had a token: it is removed, and the user logs in once more. */
function stored(): Session | null {
  try {
    const value: unknown = JSON.parse(storage.read(KEY) ?? "null");
    if (isSession(value)) return { username: value.username, began: value.began };
    if (value !== null) storage.write(KEY, null);
  } catch {
    storage.write(KEY, null);
  }
  return null;
}

function isSession(value: unknown): value is Session {
  if (typeof value !== "object" || value === null) return false;
  return (
    "began" in value && typeof value.began === "number" && "username" in value && typeof value.username === "string"
  );
}

/** Whose drafts the page shows: the viewer's, also after the session has ended, so that what was typed stays. */
export function useWriter(): string | null {
  const session = useSession();
  const [writer, setWriter] = useState(session?.username ?? null);
  if (session && session.username !== writer) setWriter(session.username);
  return session?.username ?? writer;
}
