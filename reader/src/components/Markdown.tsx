import "./markdown.css";
import { lazy, Suspense } from "react";

interface MarkdownProps {
  text: string;
}

// A file of its own, which is loaded while the page asks for its data. Without it, texts stay as they were written.
const rendering = import("./RenderedMarkdown").catch(() => ({ default: AsWritten }));
const RenderedMarkdown = lazy(() => rendering);

/** A text of a user. */
export function Markdown({ text }: MarkdownProps) {
  return (
    <Suspense fallback={<AsWritten text={text} />}>
      <RenderedMarkdown text={text} />
    </Suspense>
  );
}

function AsWritten({ text }: MarkdownProps) {
  return (
    <div className="markdown plain" dir="auto">
      {text}
    </div>
  );
}
