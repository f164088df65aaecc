// The resolvers that the peers in Node share: servers over the data of Upvote, with which it is compared.
import { config } from "./config.js";
import { articleOf, castVote, castVoteOnComment, commentOf, feed, listingOf, page, userOf } from "./store.js";

export const VALUES = { UP: 1, NONE: 0, DOWN: -1 };

export const resolvers = {
  Query: {
    async articles(_, { group, first = 25, after }, context) {
      const [listing, index] = listingOf(group);
      return connection(listing, await page(index, first, after && positionOf(after)), first, context);
    },
    article: (_, { id }, context) => context.articles.load(Number(id.slice("article:".length))),
    feed: async (_, __, context) => ({ username: await context.viewer() }),
  },
  Mutation: {
    async vote(_, { input }, context) {
      const number = Number(input.articleId.slice("article:".length));
      const { changed, hash } = await castVote(context.digest, number, VALUES[input.value]);
      return { changed, article: articleOf(number, hash), userErrors: [] };
    },
    async voteOnComment(_, { input }, context) {
      const number = Number(input.commentId.slice("comment:".length));
      const { changed, hash } = await castVoteOnComment(context.digest, number, VALUES[input.value]);
      return { changed, comment: commentOf(number, hash), userErrors: [] };
    },
  },
  Feed: {
    articles: async ({ username }, { first = 25 }, context) =>
      connection(`feed:${username}`, await feed(username, first), first, context),
  },
  Article: {
    viewerVote,
    voters: async ({ number }, { first = 25 }, context) => ({
      nodes: (await context.voters.load(number)).slice(0, first).map(userOf),
    }),
  },
  Comment: { viewerVote },
  User: {
    async articles({ username }, { first = 25 }, context) {
      const places = await context.timelines.load({ name: username, first });
      return connection(`timeline:${username.toLowerCase()}`, places, first, context);
    },
  },
};

async function viewerVote({ number, time }, _, context) {
  const asked = (await context.viewer()) && Date.now() <= time + config.votingWindow;
  return asked ? context.votes.load(number) : null;
}

// `places` has one more than `first`, if there is a next page.
async function connection(listing, places, first, context) {
  const shown = places.slice(0, first);
  const nodes = await context.articles.loadMany(shown.map(({ member }) => Number(member)));
  const edges = shown.map(({ value, member }, place) => ({ cursor: cursorOf(listing, value, member), node: nodes[place] }));
  return { edges, nodes, pageInfo: { hasNextPage: places.length > first, endCursor: edges.at(-1)?.cursor ?? null } };
}

// Cursors of Upvote have values as Python prints them: 5.0, not 5.
export function cursorOf(listing, value, member) {
  const written = value.includes(".") ? value : `${value}.0`;
  return Buffer.from(`${listing}|${written}|${member}`).toString("base64url");
}

export const positionOf = (cursor) => Buffer.from(cursor, "base64url").toString().split("|");
