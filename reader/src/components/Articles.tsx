import { useLayoutEffect, useRef, type RefObject } from "react";
import { useSearch } from "wouter";
import { useArticleChanges } from "../changes";
import { graphql, readFragment, type FragmentType } from "../gql";
import { ArticleLine } from "./ArticleLine";

export const ARTICLES = graphql(`
  fragment Articles on ArticleConnection {
    nodes {
      id
      ...ArticleLine
    }
  }
`);

type Node = { id: string } & Parameters<typeof ArticleLine>[0]["article"];

interface ListProps {
  nodes: readonly Node[];
  /** The rank of the first article; without it ranks are not shown. */
  firstRank?: number;
  /** What the list says when it is empty. */
  empty?: string;
}

interface ArticlesProps extends Omit<ListProps, "nodes"> {
  articles: FragmentType<typeof ARTICLES>;
  /** Reads the list again, if its order depends on votes. */
  renew?: (() => void) | undefined;
}

/** A list of articles, as `articles`, `group.articles` or `user.articles` have them. Their votes change as they are cast. */
export function Articles({ articles, renew, ...rest }: ArticlesProps) {
  const { nodes } = readFragment(ARTICLES, articles);
  const page = useSearch();
  useArticleChanges(nodes, renew);
  return <ArticleList key={page} nodes={nodes} {...rest} />;
}

/** Articles in an order that may change: those that move are marked for a moment. */
export function ArticleList({ nodes, firstRank, empty }: ListProps) {
  const list = useRef<HTMLOListElement>(null);
  useMarkedMoves(list, nodes);
  if (nodes.length === 0) return <p className="empty">{empty ?? "There are no articles here yet."}</p>;
  return (
    <ol className="articles" ref={list}>
      {nodes.map((node, index) => (
        <li key={node.id} data-id={node.id}>
          <ArticleLine article={node} rank={firstRank === undefined ? undefined : firstRank + index} />
        </li>
      ))}
    </ol>
  );
}

const MOVE = { duration: 450, easing: "cubic-bezier(0.2, 0, 0, 1)" };

/** Lets articles glide to their new places, and marks them. Readers who want less motion see the mark only. */
function useMarkedMoves(list: RefObject<HTMLOListElement | null>, nodes: readonly Node[]): void {
  const places = useRef(new Map<string, { index: number; top: number }>());
  useLayoutEffect(() => {
    const before = places.current;
    const items = [...(list.current?.children ?? [])].filter((item) => item instanceof HTMLElement);
    places.current = new Map(items.map((item, index) => [item.dataset.id ?? "", { index, top: item.offsetTop }]));
    if (before.size === 0) return;
    for (const [index, item] of items.entries()) {
      const old = before.get(item.dataset.id ?? "");
      if (old?.index === index) continue;
      mark(item);
      if (old && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
        item.animate([{ transform: `translateY(${old.top - item.offsetTop}px)` }, { transform: "none" }], MOVE);
      }
    }
  }, [list, nodes]);
}

function mark(item: HTMLElement): void {
  item.classList.remove("moved");
  void item.offsetWidth; // starts the animation of the class again
  item.classList.add("moved");
}
