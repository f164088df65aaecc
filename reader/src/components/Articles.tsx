import { useArticleChanges } from "../changes";
import { graphql, readFragment, type FragmentType } from "../gql";
import { ArticleLine } from "./ArticleLine";
import { LiveList } from "./LiveList";
import { t } from "../words";

export const ARTICLES = graphql(`
  fragment Articles on ArticleConnection {
    nodes {
      id
      ...ArticleLine
    }
  }
`);

type Node = { id: string } & Parameters<typeof ArticleLine>[0]["article"];

/** What both lists below take. */
interface ListProps {
  nodes: readonly Node[];
  /** The rank of the first article; without it ranks are not shown. */
  firstRank?: number;
  /** The group whose page has the list. */
  within?: string | undefined;
  /** What the list says when it is empty. */
  empty?: string;
}

interface ArticlesProps extends Omit<ListProps, "nodes"> {
  articles: FragmentType<typeof ARTICLES>;
  /** Reads the list again, if its order depends on votes. */
  renew?: (() => unknown) | undefined;
}

/** A list of articles, as `articles`, `group.articles` or `user.articles` have them, with their votes of now. */
export function Articles({ articles, renew, ...rest }: ArticlesProps) {
  const { nodes } = readFragment(ARTICLES, articles);
  useArticleChanges(nodes, renew);
  return <ArticleList nodes={nodes} {...rest} />;
}

/** A list of articles, without a subscription to their changes. */
export function ArticleList({ nodes, firstRank, within, empty = t("no-articles") }: ListProps) {
  return (
    <LiveList
      items={nodes}
      idOf={({ id }) => id}
      textOfNews="new-articles"
      className="articles"
      empty={<p className="empty">{empty}</p>}
    >
      {(node, index) => (
        <ArticleLine article={node} rank={firstRank === undefined ? undefined : firstRank + index} within={within} />
      )}
    </LiveList>
  );
}
