import { useState, type ReactNode } from "react";
import { t } from "../words";
import { Words } from "./Words";

interface FoldedIfBlockedProps {
  /** Whose text it is. Nothing is folded if there is no author, or one whom the viewer does not block. */
  author?: { username: string; viewerIsBlocking: boolean } | null | undefined;
  /** What a screen reader calls the text, such as "comment by alice". */
  name: string;
  children: ReactNode;
}

/** A text. If the viewer blocks its author, it is collapsed until the viewer opens it. */
export function FoldedIfBlocked({ author, name, children }: FoldedIfBlockedProps) {
  const [isShown, setShown] = useState(false);
  if (!author?.viewerIsBlocking) return children;
  const text = isShown ? t("hide-text") : t("show-text");
  return (
    <>
      <p className="absent">
        <Words id="you-block" name={<bdi>{author.username}</bdi>} />{" "}
        <button
          type="button"
          className="action"
          aria-label={t("named-action", { action: text, name })}
          aria-expanded={isShown}
          onClick={() => setShown(!isShown)}
        >
          {text}
        </button>
      </p>
      {isShown && children}
    </>
  );
}
