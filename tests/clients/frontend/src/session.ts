const KEY = "upvote-token";

/** The token of a session, in memory and in a storage if there is one. */
export class Session {
  token: string | null;
  private readonly storage?: Storage;
  private readonly listeners = new Set<() => void>();

  constructor(storage?: Storage) {
    this.storage = storage;
    this.token = storage?.getItem(KEY) ?? null;
  }

  get headers(): Record<string, string> {
    return this.token ? { Authorization: `Bearer ${this.token}` } : {};
  }

  begin(token: string): void {
    this.storage?.setItem(KEY, token);
    this.change(token);
  }

  end(): void {
    this.storage?.removeItem(KEY);
    this.change(null);
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private change(token: string | null): void {
    this.token = token;
    for (const listener of this.listeners) listener();
  }
}
