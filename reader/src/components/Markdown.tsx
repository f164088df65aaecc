import "./markdown.css";
import { lazy, Suspense, useState } from "react";

interface MarkdownProps {
  text: string;
}

// A file of its own, which is loaded while the page asks for its data. Without it, texts stay as they were written.
const rendering = import("./RenderedMarkdown").catch(() => ({ default: AsWritten }));
const RenderedMarkdown = lazy(() => rendering);
let Loaded: typeof AsWritten | null = null;
void rendering.then((module) => (Loaded = module.default));

/** A text of a user. */
export function Markdown({ text }: MarkdownProps) {
  const [Renderer] = useState(() => Loaded); // the lazy one would show the text as it was written at first
  if (Renderer) return <Renderer text={text} />;
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
