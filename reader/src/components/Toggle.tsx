import { useState } from "react";
import { useLocation } from "wouter";
import { logInPath } from "../log-in";
import { useSession } from "../session";
import { say } from "../status";
import { t } from "../words";

interface ToggleProps {
  isOn: boolean;
  /** Texts of the button while it is on and off, each without and with `name`, and one for viewers who are not logged in. */
  texts: { on: string; off: string; onName: string; offName: string; logIn: string };
  /** Whom or what it is about. */
  name: string;
  className?: string;
  /** The key that presses it. */
  shortcut?: string;
  /** Sends the change. */
  change: () => Promise<void>;
}

/** A button that is on or off for the viewer. It asks to log in if nobody is, and sends one change at a time. */
export function Toggle({ isOn, texts, name, className, shortcut, change }: ToggleProps) {
  const session = useSession();
  const [, navigate] = useLocation();
  const [isSending, setSending] = useState(false);

  async function press() {
    if (session === null) {
      navigate(logInPath());
      say(t(texts.logIn, { name }));
    } else if (!isSending) {
      setSending(true);
      await change();
      setSending(false);
    }
  }

  return (
    <button
      type="button"
      className={className}
      aria-pressed={isOn}
      aria-label={t(isOn ? texts.onName : texts.offName, { name })}
      aria-keyshortcuts={shortcut}
      onClick={() => void press()}
    >
      {t(isOn ? texts.on : texts.off)}
    </button>
  );
}
