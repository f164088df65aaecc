import type { ApolloClient } from "@apollo/client";
import type { PageQuery, VoteMutation } from "./gql/graphql";
import { VOTE } from "./queries";

type Article = NonNullable<PageQuery["articles"]>["edges"][number]["node"];
type Value = NonNullable<Article["viewerVote"]>;

const WORTH = { UP: 1, NONE: 0, DOWN: -1 };

/** Sets the viewer's vote: in the cache at once, and back if that fails. Returns the reason why it failed. */
export async function vote(client: ApolloClient, article: Article, value: Value): Promise<string | undefined> {
  const { data, error } = await client.mutate({
    mutation: VOTE,
    variables: { input: { articleId: article.id, value } },
    optimisticResponse: expected(article, value),
    errorPolicy: "all", // without it, `mutate` throws if the server cannot be reached
  });
  return error?.message ?? data?.vote?.userErrors[0]?.message;
}

function expected(article: Article, value: Value): VoteMutation {
  const votes = article.votes + WORTH[value] - WORTH[article.viewerVote ?? "NONE"];
  return {
    vote: {
      changed: true,
      article: { __typename: "Article", id: article.id, votes, viewerVote: value },
      userErrors: [],
    },
  };
}
