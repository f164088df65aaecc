import { useState, type ReactNode } from "react";
import { t } from "../words";
import { Words } from "./Words";

interface FoldedProps {
  /** Whose text it is. */
  username: string;
  /** What the text is, as in "comment by alice". */
  name: string;
  children: ReactNode;
}

/** What somebody says whom the viewer blocks: folded until it is asked for. */
export function Folded({ username, name, children }: FoldedProps) {
  const [isShown, setShown] = useState(false);
  const text = isShown ? t("hide-text") : t("show-text");
  return (
    <>
      <p className="absent">
        <Words id="you-block" name={<bdi>{username}</bdi>} />{" "}
        <button
          type="button"
          className="action"
          aria-label={t("named-action", { action: text, name })}
          onClick={() => setShown(!isShown)}
        >
          {text}
        </button>
      </p>
      {isShown && children}
    </>
  );
}
