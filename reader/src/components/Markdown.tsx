import "./markdown.css";
import { lazy, Suspense, useState } from "react";
import { markdownRenderer } from "../files";

interface MarkdownProps {
  text: string;
}

// A file of its own, as not all pages have texts. Until it is there, texts stay as they were written.
const RenderedMarkdown = lazy(markdownRenderer.load);

/** A text of a user. */
export function Markdown({ text }: MarkdownProps) {
  const [Renderer] = useState(() => markdownRenderer.get()?.default); // the lazy one first shows it as written
  if (Renderer) return <Renderer text={text} />;
  return (
    <Suspense fallback={<AsWritten text={text} />}>
      <RenderedMarkdown text={text} />
    </Suspense>
  );
}

const RenderedStart = lazy(async () => ({ default: (await markdownRenderer.load()).PlainStart }));

/** The beginning of a text of a user in one line, without its Markdown. */
export function PlainStart({ text }: MarkdownProps) {
  const [Renderer] = useState(() => markdownRenderer.get()?.PlainStart); // the lazy one first shows nothing
  if (Renderer) return <Renderer text={text} />;
  return (
    <Suspense>
      <RenderedStart text={text} />
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
