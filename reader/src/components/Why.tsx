import "./thread.css";
import { Link } from "wouter";
import { logPath } from "../addresses";
import { reasonWords } from "../moderation";
import { t } from "../words";

interface WhyProps {
  /** What is so, such as "This article was removed", without a full stop. */
  said: string;
  /** What the moderator said, if that is known. */
  reason?: string | null | undefined;
  /** The article, the comment or the user that it is about. */
  subject: string;
  /** What follows from it, in a sentence. */
  rest?: string;
}

/** Why something is gone or closed, in a line, and where to read more. */
export function Why({ said, reason, subject, rest }: WhyProps) {
  const known = reason && reasonWords(reason);
  return (
    <>
      {said}
      {known ? (
        `: ${known}.`
      ) : reason ? (
        <>
          : <q dir="auto">{reason}</q>
        </>
      ) : (
        "."
      )}{" "}
      {rest && `${rest} `}
      <Link href={logPath({ subject })}>{t("what-moderators-did")}</Link>
    </>
  );
}
