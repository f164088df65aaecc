import { useLayoutEffect, useRef, type ComponentProps } from "react";
import { useClient } from "urql";
import { setHidden, useIsHidden } from "../hiding";
import { ArticleLine } from "./ArticleLine";
import { t } from "../words";
import { Words } from "./Words";

interface OwnLineProps {
  article: { id: string; title: string } & ComponentProps<typeof ArticleLine>["article"];
  rank?: number | undefined;
}

/** An article in home or feed, the viewer's own lists: they leave out what the viewer hides. */
export function OwnLine({ article, rank }: OwnLineProps) {
  return useIsHidden(article.id) ? <HiddenLine article={article} /> : <ArticleLine article={article} rank={rank} />;
}

/** In place of an article that was just hidden, with a button that shows it again. */
function HiddenLine({ article: { id, title } }: OwnLineProps) {
  const client = useClient();
  const line = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) line.current?.querySelector("button")?.focus(); // the menu is gone
  }, []);

  async function undo() {
    const row = line.current?.closest("li");
    await setHidden(client, id, title, false);
    requestAnimationFrame(() => row?.querySelector<HTMLElement>("[data-keyboard-item]")?.focus());
  }

  return (
    <article
      ref={line}
      className="line hidden-line"
      data-keyboard-item=""
      tabIndex={-1}
      aria-label={t("hidden-name", { title })}
    >
      <p dir="auto">
        <Words id="hidden-line" title={<bdi>{title}</bdi>} />
      </p>
      <button type="button" aria-label={t("undo-hide", { title })} onClick={() => void undo()}>
        {t("undo")}
      </button>
    </article>
  );
}
