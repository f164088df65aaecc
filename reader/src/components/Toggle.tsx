import { useState } from "react";
import { useLocation } from "wouter";
import { logInPath } from "../log-in";
import { useSession } from "../session";
import { say } from "../status";

interface ToggleProps {
  isOn: boolean;
  /** What it says while it is on, and while it is off. */
  on: string;
  off: string;
  /** Whom or what it is about. */
  name: string;
  className?: string;
  /** The key that presses it. */
  shortcut?: string;
  /** Sends the change. */
  change: () => Promise<void>;
}

/** A button that is on or off for the viewer. It asks to log in if nobody is, and sends one change at a time. */
export function Toggle({ isOn, on, off, name, className, shortcut, change }: ToggleProps) {
  const session = useSession();
  const [, navigate] = useLocation();
  const [isSending, setSending] = useState(false);

  async function press() {
    if (session === null) {
      navigate(logInPath());
      say(`Log in to ${off.toLowerCase()} ${name}.`);
    } else if (!isSending) {
      setSending(true);
      await change();
      setSending(false);
    }
  }

  const text = isOn ? on : off;
  return (
    <button
      type="button"
      className={className}
      aria-pressed={isOn}
      aria-label={`${text} ${name}`}
      aria-keyshortcuts={shortcut}
      onClick={() => void press()}
    >
      {text}
    </button>
  );
}
