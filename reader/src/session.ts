import { useState } from "react";
import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

/** Who is logged in. `token` goes into the header Authorization of each request. */
export interface Session {
  token: string;
  username: string;
}

const KEY = "upvote-session";

const session = new Observable<Session | null>(stored());

/** The session of all tabs, until it ends. */
export const useSession = (): Session | null => useObservable(session);

export const currentSession = session.get;

export function beginSession(begun: Session): void {
  storage.write(KEY, JSON.stringify(begun));
  session.set(begun);
}

export function endSession(): void {
  storage.write(KEY, null);
  session.set(null);
}

window.addEventListener("storage", ({ key }) => {
  if (key === KEY || key === null) session.set(stored());
});

function stored(): Session | null {
  try {
    const value: unknown = JSON.parse(storage.read(KEY) ?? "null");
    return isSession(value) ? { token: value.token, username: value.username } : null;
  } catch {
    return null;
  }
}

function isSession(value: unknown): value is Session {
  if (typeof value !== "object" || value === null) return false;
  return (
    "token" in value && typeof value.token === "string" && "username" in value && typeof value.username === "string"
  );
}

/** Who writes here. It stays when the session ends, so that what was typed stays. */
export function useWriter(): string | null {
  const session = useSession();
  const [writer, setWriter] = useState(session?.username ?? null);
  if (session && session.username !== writer) setWriter(session.username);
  return session?.username ?? writer;
}
