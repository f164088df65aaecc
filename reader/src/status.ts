import { Observable } from "./observable";

/** What the status line, a box at the end of the window, says. The same text twice is two messages. */
export interface Message {
  text: string;
  isProblem: boolean;
  /** Undoes what the text tells. */
  undo?: (() => void) | undefined;
}

export const message = new Observable<Message | null>(null);

/** Shows a text in the status line, which screen readers read out. */
export function say(text: string, undo?: () => void): void {
  message.set({ text, isProblem: false, undo });
}

/** Shows what did not work in the status line. It stays until it is dismissed or replaced. */
export function sayProblem(text: string): void {
  message.set({ text, isProblem: true });
}
