import type { ApolloClient } from "@apollo/client";
import { firstValueFrom } from "rxjs";
import { expect, inject, test } from "vitest";
import { connect } from "./client";
import { graphql } from "./gql";
import { LOG_OUT, PAGE, POST, VIEWER } from "./queries";
import { Session } from "./session";
import { vote } from "./votes";

const REGISTER = graphql(`mutation Register($input: RegisterInput!) { register(input: $input) { token } }`);
const DELETE = graphql(`
  mutation Delete($input: DeleteArticleInput!) { deleteArticle(input: $input) { deletedArticleId } }
`);

const FEED = graphql(`subscription Feed { feedArticle { id title } }`);

async function user(username: string) {
  const session = new Session();
  const client = connect(inject("url"), session);
  const input = { username, password: "correct horse" };
  const { data } = await client.mutate({ mutation: REGISTER, variables: { input } });
  session.begin(data!.register!.token!);
  return { client, session };
}

async function post(client: ApolloClient, title: string) {
  const { data } = await client.mutate({ mutation: POST, variables: { input: { title, content: "To be voted on." } } });
  return data!.post!.article!.id;
}

function known(client: ApolloClient) {
  return client.readQuery({ query: PAGE }, true)!.articles!.edges.map(({ node }) => node);
}

const votes = (client: ApolloClient, id: string) => known(client).find((article) => article.id === id)?.votes;

test("a vote shows at once, and is taken back if it is refused", async () => {
  const { client: poster } = await user("poster");
  const { client: voter } = await user("voter");
  const [good, deleted] = [await post(poster, "Good"), await post(poster, "Deleted")];
  await voter.query({ query: PAGE });
  const article = (id: string) => known(voter).find((each) => each.id === id)!;
  await poster.mutate({ mutation: DELETE, variables: { input: { articleId: deleted } } });

  const done = Promise.all([vote(voter, article(good), "UP"), vote(voter, article(deleted), "UP")]);
  expect([votes(voter, good), votes(voter, deleted)]).toEqual([2, 2]);
  expect(await done).toEqual([undefined, expect.stringContaining(deleted)]);
  expect([votes(voter, good), votes(voter, deleted)]).toEqual([2, 1]);
});

test("a vote that does not reach the server is taken back", async () => {
  const { client, session } = await user("offline");
  const id = await post(client, "Offline");
  await client.query({ query: PAGE });
  const offline = connect("http://127.0.0.1:9/graphql", session);
  offline.restore(client.extract());

  const done = vote(offline, known(offline)[0]!, "NONE");
  expect(votes(offline, id)).toBe(0);
  expect(await done).toBe("fetch failed");
  expect(votes(offline, id)).toBe(1);
});

test("pages are joined", async () => {
  const { client } = await user("reader");
  for (const title of ["One", "Two", "Three", "Four"]) await post(client, title);
  const pages = client.watchQuery({ query: PAGE });
  const { data } = await client.query({ query: PAGE });

  await pages.fetchMore({ variables: { after: data!.articles!.pageInfo.endCursor } });

  expect(known(client).slice(0, 4).map(({ title }) => title)).toEqual(["Four", "Three", "Two", "One"]);
});

async function leaver(username: string) {
  const { client, session } = await user(username);
  const elsewhere = Object.assign(new Session(), { token: session.token });
  await connect(inject("url"), elsewhere).mutate({ mutation: LOG_OUT });
  return { client, session };
}

test("a response tells that the session has ended", async () => {
  const { client, session } = await leaver("leaver");

  const { data } = await client.query({ query: VIEWER, fetchPolicy: "network-only" });

  expect([data!.viewer, session.token]).toEqual([null, null]);
});

test("a refused subscription tells that the session has ended", async () => {
  const { client, session } = await leaver("listener");

  const { error } = await firstValueFrom(client.subscribe({ query: FEED }));

  expect([error?.message, session.token]).toEqual(["log in first", null]);
});
