import { Link } from "wouter";
import { logPath } from "../addresses";
import { reasonWords } from "../moderation";

interface ReasonProps {
  text: string;
  /** The ban because of which the server did it. */
  ban?: { subjectId: string } | null | undefined;
}

/**
 * Why a moderator did something, in the words of the moderator; nothing without a reason. For a reason that the server has
 * given itself, the words are those of the page, and because of a ban (`ban`) a link to the actions on the banned user.
 */
export function Reason({ text, ban }: ReasonProps) {
  if (!text) return null;
  const words = reasonWords(text);
  return (
    <p className="excerpt" dir="auto">
      {words && ban ? <Link href={logPath({ subject: ban.subjectId })}>{words}</Link> : (words ?? text)}
    </p>
  );
}
