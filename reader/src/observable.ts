import { useSyncExternalStore } from "react";

/** A value outside of React that components show. */
export class Observable<Value> {
  private readonly listeners = new Set<() => void>();

  private value: Value;

  constructor(value: Value) {
    this.value = value;
  }

  readonly get = (): Value => this.value;

  set(value: Value): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export function useObservable<Value>(observable: Observable<Value>): Value {
  return useSyncExternalStore(observable.subscribe, observable.get);
}
