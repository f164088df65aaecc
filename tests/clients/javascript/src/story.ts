import type { TypedDocumentNode } from "@graphql-typed-document-node/core";

import type { PageQuery, VoteMutation } from "./gql/graphql";
import { given, type Inbox } from "./inbox";
import { ARTICLE_CHANGED, COMMENT, DELETE, LOG_IN, PAGE, POST, RANKING_CHANGED, REGISTER, VOTE } from "./operations";

export type Variables = Record<string, unknown>;
export type Document<Data, V extends Variables> = TypedDocumentNode<Data, V>;

/** A client library at work for one user: each of the other files wraps one. */
export interface Client {
  run<Data, V extends Variables>(document: Document<Data, V>, variables: V): Promise<Data>;
  listen<Data, V extends Variables>(document: Document<Data, V>, variables: V): Inbox<Data>;
  /** What its cache holds of a query, all pages joined; without asking the server. */
  known?<Data, V extends Variables>(document: Document<Data, V>, variables: V): Data | null;
  close(): void | Promise<void>;
}

/**
 * Posts as one user, then logs in as another, reads pages, subscribes, votes, and tries to delete an article of the
 * first user. Prints what the client saw, for a test. The program's arguments are the URL of the endpoint, a group for
 * the articles, and the id of an article on which voting is closed.
 */
export async function runStory(open: (url: string, token?: string) => Client): Promise<void> {
  const [url, group, closedId] = process.argv.slice(2) as [string, string, string];
  const poster = { username: `${group}-poster`, password: "correct horse" };
  const voter = { username: `${group}-voter`, password: "correct horse" };
  const stranger = open(url);
  const { register } = await stranger.run(REGISTER, { input: poster });
  await stranger.run(REGISTER, { input: voter });
  const { logIn } = await stranger.run(LOG_IN, { input: voter });

  const posting = open(url, given(register?.token));
  const ids: string[] = [];
  for (const title of ["First", "Second", "Third"]) {
    const { post } = await posting.run(POST, { input: { title, content: "To be voted on.", groups: [group] } });
    ids.push(given(post?.article?.id));
  }
  const id = given(ids[0]);

  const voting = open(url, given(logIn?.token));
  const page = given((await voting.run(PAGE, { group })).articles);
  const shown = titles(page);
  await voting.run(PAGE, { group, after: given(page.pageInfo.endCursor) });

  const changes = voting.listen(ARTICLE_CHANGED, { id });
  const rankings = voting.listen(RANKING_CHANGED, { group });
  const before = (await rankings.take()).rankingChanged.articles.map(({ title }) => title);
  const { vote } = await voting.run(VOTE, { input: { articleId: id, value: "UP" } });
  const { articleChanged } = await changes.take();
  const { articles, moves } = (await rankings.take()).rankingChanged;

  const { comment } = await voting.run(COMMENT, { input: { articleId: id, content: "A comment." } });
  const late = await voting.run(VOTE, { input: { articleId: closedId } });
  const { deleteArticle } = await voting.run(DELETE, { input: { articleId: id } });
  const known = voting.known?.(PAGE, { group })?.articles;
  await Promise.all([stranger, posting, voting].map((client) => client.close()));
  const seen = {
    user: logIn?.user?.username,
    page: shown,
    total: page.totalCount,
    vote: [vote?.changed, vote?.article?.votes, vote?.article?.viewerVote],
    received: [articleChanged.title, articleChanged.votes],
    before,
    after: articles.map(({ title }) => title),
    moves: moves.map(({ from, to }) => [from, to]),
    commented: [comment?.comment?.content, comment?.comment?.article.commentCount],
    late: late.vote?.userErrors.map(why),
    refused: deleteArticle?.userErrors.map(({ code, field }) => [code, field]),
    known: known && titles(known),
  };
  console.log(JSON.stringify(seen));
}

function titles(page: NonNullable<PageQuery["articles"]>): string[] {
  return page.edges.map(({ node }) => `${node.title} ${node.votes}`);
}

/** Compiles only if `__typename` tells TypeScript which fields a refusal has besides its code. */
function why(refusal: NonNullable<VoteMutation["vote"]>["userErrors"][number]): string {
  switch (refusal.__typename) {
    case "VotingClosed":
      return `closed at ${refusal.closedAt}`;
    case "RateLimited":
      return `again at ${refusal.retryAt}`;
    default:
      return refusal.code;
  }
}
