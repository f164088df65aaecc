import { useState } from "react";
import { Markdown } from "./Markdown";
import { t } from "../words";

/** A text as it will be shown, while it is written. It is rendered only while the preview is open. */
export function Preview({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  if (text.trim() === "") return null;
  return (
    <details className="preview" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("preview")}</summary>
      {isOpen && <Markdown text={text} />}
    </details>
  );
}
