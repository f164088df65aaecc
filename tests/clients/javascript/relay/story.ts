import { createClient, type Sink } from "graphql-ws";
import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
  type ConcreteRequest,
  type GraphQLResponse,
  type MutationParameters,
  type OperationType,
} from "relay-runtime";

import { given, Inbox } from "../src/inbox";
import ARTICLE_CHANGED, { type UpvoteArticleSubscription } from "./generated/UpvoteArticleSubscription.graphql";
import COMMENT, { type UpvoteCommentMutation } from "./generated/UpvoteCommentMutation.graphql";
import DELETE, { type UpvoteDeleteMutation } from "./generated/UpvoteDeleteMutation.graphql";
import LOG_IN, { type UpvoteLogInMutation } from "./generated/UpvoteLogInMutation.graphql";
import PAGE, { type UpvotePageQuery } from "./generated/UpvotePageQuery.graphql";
import POST, { type UpvotePostMutation } from "./generated/UpvotePostMutation.graphql";
import RANKING_CHANGED, { type UpvoteRankingSubscription } from "./generated/UpvoteRankingSubscription.graphql";
import REGISTER, { type UpvoteRegisterMutation } from "./generated/UpvoteRegisterMutation.graphql";
import VOTE, { type UpvoteVoteMutation } from "./generated/UpvoteVoteMutation.graphql";

/** Relay at work for one user, over HTTP, and with subscriptions over graphql-ws. */
class Relay {
  private readonly socket;
  private readonly environment;

  constructor(url: string, token?: string) {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const socket = createClient({ url: url.replace("http", "ws"), connectionParams: headers });
    this.socket = socket;
    this.environment = new Environment({
      network: Network.create(
        async ({ text: query }, variables) => {
          const body = JSON.stringify({ query, variables });
          const answer = await fetch(url, { method: "POST", headers: { ...headers, ...JSON_TYPE }, body });
          return (await answer.json()) as GraphQLResponse;
        },
        ({ text }, variables) =>
          Observable.create((sink) => socket.subscribe({ query: given(text), variables }, sink as Sink)),
      ),
      store: new Store(new RecordSource()),
    });
  }

  query<Operation extends OperationType>(query: ConcreteRequest, variables: Operation["variables"]) {
    this.environment.retain(createOperationDescriptor(query, variables));
    return fetchQuery<Operation>(this.environment, query, variables).toPromise().then(given);
  }

  mutate<Operation extends MutationParameters>(mutation: ConcreteRequest, variables: Operation["variables"]) {
    return new Promise<Operation["response"]>((onCompleted, onError) =>
      commitMutation<Operation>(this.environment, { mutation, variables, onCompleted, onError }),
    );
  }

  listen<Operation extends OperationType>(subscription: ConcreteRequest, variables: Operation["variables"]) {
    const inbox = new Inbox<Operation["response"]>();
    requestSubscription<Operation>(this.environment, {
      subscription,
      variables,
      onNext: (message) => inbox.put(given(message)),
      onError: (error) => void Promise.reject(error),
    });
    return inbox;
  }

  /** What its store holds of a query, all pages joined; without asking the server. */
  known<Operation extends OperationType>(query: ConcreteRequest, variables: Operation["variables"]) {
    return this.environment.lookup(createOperationDescriptor(query, variables).fragment).data as Operation["response"];
  }

  close() {
    return this.socket.dispose();
  }
}

const JSON_TYPE = { "content-type": "application/json" };

/** What `runStory` of ../src/story.ts does, by Relay: posts, reads pages, subscribes, votes, and prints what it saw. */
async function runStory(url: string, group: string, closedId: string): Promise<void> {
  const poster = { username: `${group}-poster`, password: "correct horse" };
  const voter = { username: `${group}-voter`, password: "correct horse" };
  const stranger = new Relay(url);
  const { register } = await stranger.mutate<UpvoteRegisterMutation>(REGISTER, { input: poster });
  await stranger.mutate<UpvoteRegisterMutation>(REGISTER, { input: voter });
  const { logIn } = await stranger.mutate<UpvoteLogInMutation>(LOG_IN, { input: voter });

  const posting = new Relay(url, given(register?.token));
  const ids: string[] = [];
  for (const title of ["First", "Second", "Third"]) {
    const input = { title, content: "To be voted on.", groups: [group] };
    const { post } = await posting.mutate<UpvotePostMutation>(POST, { input });
    ids.push(given(post?.article?.id));
  }
  const id = given(ids[0]);

  const voting = new Relay(url, given(logIn?.token));
  const page = given((await voting.query<UpvotePageQuery>(PAGE, { group })).articles);
  await voting.query<UpvotePageQuery>(PAGE, { group, after: given(page.pageInfo.endCursor) });

  const changes = voting.listen<UpvoteArticleSubscription>(ARTICLE_CHANGED, { id });
  const rankings = voting.listen<UpvoteRankingSubscription>(RANKING_CHANGED, { group });
  const before = (await rankings.take()).rankingChanged.articles;
  const { vote } = await voting.mutate<UpvoteVoteMutation>(VOTE, { input: { articleId: id, value: "UP" } });
  const { articleChanged } = await changes.take();
  const { articles, moves } = (await rankings.take()).rankingChanged;

  const answer = { articleId: id, content: "A comment." };
  const { comment } = await voting.mutate<UpvoteCommentMutation>(COMMENT, { input: answer });
  const late = await voting.mutate<UpvoteVoteMutation>(VOTE, { input: { articleId: closedId } });
  const { deleteArticle } = await voting.mutate<UpvoteDeleteMutation>(DELETE, { input: { articleId: id } });
  const known = voting.known<UpvotePageQuery>(PAGE, { group }).articles;
  await Promise.all([stranger, posting, voting].map((client) => client.close()));
  const seen = {
    user: logIn?.user?.username,
    page: titles(page),
    total: page.totalCount,
    vote: [vote?.changed, vote?.article?.votes, vote?.article?.viewerVote],
    received: [articleChanged.title, articleChanged.votes],
    before: before.map(({ title }) => title),
    after: articles.map(({ title }) => title),
    moves: moves.map(({ from, to }) => [from, to]),
    commented: [comment?.comment?.content, comment?.comment?.article.commentCount],
    late: late.vote?.userErrors.map(why),
    refused: deleteArticle?.userErrors.map(({ code, field }) => [code, field]),
    known: titles(given(known)),
  };
  console.log(JSON.stringify(seen));
}

function titles(page: NonNullable<UpvotePageQuery["response"]["articles"]>): string[] {
  return page.edges.map(({ node }) => `${node.title} ${node.votes}`);
}

function why(refusal: NonNullable<UpvoteVoteMutation["response"]["vote"]>["userErrors"][number]): string {
  switch (refusal.__typename) {
    case "VotingClosed":
      return `closed at ${refusal.closedAt}`;
    case "RateLimited":
      return `again at ${refusal.retryAt}`;
    case "Refusal":
      return refusal.code;
    default:
      return "unknown to this client";
  }
}

void runStory(...(process.argv.slice(2) as [string, string, string]));
