// grafast (PostGraphile's executor) on Fastify: plans in place of resolvers. What they load is a batch, one pipeline.
// A name with $ is a step of a plan: it stands for the values that an execution computes. `asked` are such values.
import Fastify from "fastify";
import { context, each, get, grafast, lambda, loadOne, makeGrafastSchema, object, sideEffect } from "grafast";
import { config, port, typeDefs } from "./config.js";
import { VALUES, cursorOf, positionOf } from "./resolvers.js";
import {
  articleOf, castVote, castVoteOnComment, commentOf, contextOf, feed, listingOf, page, readArticles, readRanges,
  readVoters, readVotes, userOf,
} from "./store.js";
import { serve } from "./workers.js";

// Node 22 has it, which grafast asks for.
Promise.withResolvers ??= () => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};

const DEFAULT_FIRST = 25;

// `places` has one more than `first`, if there is a next page.
function connection(listing, places, first) {
  const shown = places.slice(0, first).map(({ member, value }) => ({
    number: Number(member),
    cursor: cursorOf(listing, value, member),
  }));
  return { shown, pageInfo: { hasNextPage: places.length > first, endCursor: shown.at(-1)?.cursor ?? null } };
}

const readPages = (asked) =>
  Promise.all(asked.map(async ([group, first, after]) => {
    const [listing, index] = listingOf(group);
    return connection(listing, await page(index, first ?? DEFAULT_FIRST, after && positionOf(after)), first ?? DEFAULT_FIRST);
  }));

const readFeeds = (asked) =>
  Promise.all(asked.map(async ([username, first]) =>
    connection(`feed:${username}`, await feed(username, first ?? DEFAULT_FIRST), first ?? DEFAULT_FIRST)));

async function readTimelines(asked) {
  const ranges = await readRanges(asked.map(([name, first]) => ({ name, first: first ?? DEFAULT_FIRST })));
  return ranges.map((places, place) => {
    const [name, first] = asked[place];
    return connection(`timeline:${name.toLowerCase()}`, places, first ?? DEFAULT_FIRST);
  });
}

async function readViewerVotes(asked) {
  const [[, , { viewer }]] = asked; // all have the context of the same request
  const voter = await viewer();
  const open = asked.filter(([, time]) => voter && Date.now() <= time + config.votingWindow);
  const found = open.length ? await readVotes(open.map(([number]) => number), voter) : [];
  const votes = new Map(open.map(([number], place) => [number, found[place]]));
  return asked.map(([number]) => votes.get(number) ?? null);
}

const viewerVote = ($subject) => loadOne([get($subject, "number"), get($subject, "time"), context()], readViewerVotes);
const article = ($place) => loadOne(get($place, "number"), readArticles);

const objects = {
  Query: {
    plans: {
      articles: (_, { $group, $first, $after }) => loadOne([$group, $first, $after], readPages),
      article: (_, { $id }) => loadOne(lambda($id, (id) => Number(id.slice("article:".length))), readArticles),
      feed: () => object({ username: lambda(context(), ({ viewer }) => viewer()) }),
    },
  },
  Mutation: {
    plans: {
      vote: (_, { $input }) =>
        sideEffect([$input, context()], async ([input, { digest }]) => {
          const number = Number(input.articleId.slice("article:".length));
          const { changed, hash } = await castVote(digest, number, VALUES[input.value]);
          return { changed, article: articleOf(number, hash), userErrors: [] };
        }),
      voteOnComment: (_, { $input }) =>
        sideEffect([$input, context()], async ([input, { digest }]) => {
          const number = Number(input.commentId.slice("comment:".length));
          const { changed, hash } = await castVoteOnComment(digest, number, VALUES[input.value]);
          return { changed, comment: commentOf(number, hash), userErrors: [] };
        }),
    },
  },
  ArticleConnection: {
    plans: {
      edges: ($connection) => get($connection, "shown"),
      nodes: ($connection) => each(get($connection, "shown"), article),
    },
  },
  ArticleEdge: { plans: { node: article } },
  Article: {
    plans: {
      viewerVote,
      voters: ($article, { $first }) =>
        object({
          nodes: lambda([loadOne(get($article, "number"), readVoters), $first], ([names, first]) =>
            names.slice(0, first ?? DEFAULT_FIRST).map(userOf)),
        }),
    },
  },
  Comment: { plans: { viewerVote } },
  Feed: { plans: { articles: ($feed, { $first }) => loadOne([get($feed, "username"), $first], readFeeds) } },
  User: { plans: { articles: ($user, { $first }) => loadOne([get($user, "username"), $first], readTimelines) } },
};

const schema = makeGrafastSchema({ typeDefs, objects });
const app = Fastify();
app.post("/graphql", ({ body, headers }) =>
  grafast({
    schema,
    source: body.query,
    variableValues: body.variables,
    operationName: body.operationName,
    contextValue: contextOf(headers.authorization),
  }));
serve(() => app.listen({ host: "127.0.0.1", port }));
