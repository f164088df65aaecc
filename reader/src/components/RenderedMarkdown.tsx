import { useLayoutEffect, useRef, type MouseEvent } from "react";
import { useLocation } from "wouter";
import { userPath } from "../addresses";
import { plainStart, render } from "../markdown";

/** A text of a user, rendered. A click on a mention opens the user's page without a reload. */
export default function RenderedMarkdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [, navigate] = useLocation();
  useLayoutEffect(() => box.current?.replaceChildren(render(text)), [text]);

  function follow(event: MouseEvent) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const username = /^user\/(.+)/.exec(link?.getAttribute("href") ?? "")?.[1];
    if (
      username === undefined ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    navigate(userPath(username));
  }

  return <div className="markdown" dir="auto" ref={box} onClick={follow} />;
}

/** The beginning of a text in one line, without its Markdown. */
export const PlainStart = ({ text }: { text: string }) => plainStart(text);
