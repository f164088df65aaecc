import { useState } from "react";
import { storage } from "./storage";

/** What somebody is writing. It outlives a reload, until it is posted or given up. */
export interface Draft<Value> {
  value: Value;
  change(value: Value): void;
  /**
   * The idempotency key of this value: the server posts it once, however often it is sent. A change gets a new key.
   */
  key(): string;
  clear(): void;
}

interface Stored<Value> {
  value: Value;
  key?: string;
}

/**
 * The draft with this name in this tab. Drafts of different users need different names. `empty` is the value of a form
 * in which nothing has been typed.
 */
export function useDraft<Value>(name: string, empty: Value): Draft<Value> {
  const [draft, setDraft] = useState<Stored<Value>>(() => read(name) ?? { value: empty });

  const keep = (draft: Stored<Value>) => {
    write(name, isEqual(draft.value, empty) ? null : draft);
    setDraft(draft);
  };
  const key = () => {
    draft.key ??= newKey();
    write(name, draft);
    return draft.key;
  };
  const clear = () => {
    write(name, null);
    setDraft({ value: empty });
  };
  return { value: draft.value, change: (value) => keep({ value }), key, clear };
}

export function hasDraft(name: string): boolean {
  return storage.read(itemOf(name), "sessionStorage") !== null;
}

function read<Value>(name: string): Stored<Value> | null {
  try {
    return JSON.parse(storage.read(itemOf(name), "sessionStorage") ?? "null") as Stored<Value> | null;
  } catch {
    return null;
  }
}

function write(name: string, stored: Stored<unknown> | null): void {
  storage.write(itemOf(name), stored && JSON.stringify(stored), "sessionStorage");
}

function itemOf(name: string): string {
  return `upvote-draft:${name}`;
}

/** 128 random bits. `crypto.randomUUID` is missing on pages without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
