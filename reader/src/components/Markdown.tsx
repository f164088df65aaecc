import "./markdown.css";
import { lazy, Suspense } from "react";

const RenderedMarkdown = lazy(() => import("./RenderedMarkdown"));

/** A text of a user. What renders it is loaded with the first one; until then the text is shown as it was written. */
export function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="markdown plain" dir="auto" children={text} />}>
      <RenderedMarkdown text={text} />
    </Suspense>
  );
}
