// mercurius with JIT, and instead of loaders one Lua script that reads a whole page: the fastest of the Node peers.
import { readFileSync } from "node:fs";
import { config } from "./config.js";
import { serveMercurius } from "./fastify.js";
import { cursorOf, positionOf } from "./resolvers.js";
import { articleOf, key, listingOf, redis, voteOf } from "./store.js";

const VALUES_PER_ARTICLE = 11; // in the reply of page.lua, which describes them

redis.defineCommand("readPage", {
  numberOfKeys: 2,
  lua: readFileSync(new URL("./page.lua", import.meta.url), "utf8"),
});

async function articles(_, { group, first = 25, after }, { digest }) {
  const [listing, index] = listingOf(group);
  const from = after ? `(${positionOf(after)[1]}` : "+inf";
  const prefixes = [key("article"), key("voted"), key("downvoted")];
  const now = Date.now();
  const reply = await redis.readPage(index, key("session", digest), from, first, now, ...prefixes);
  const [more, viewer, ...read] = JSON.parse(reply);
  const edges = [];
  for (let place = 0; place < read.length; place += VALUES_PER_ARTICLE) edges.push(edgeOf(listing, read, place, viewer, now));
  return { edges, pageInfo: { hasNextPage: more === 1, endCursor: edges.at(-1)?.cursor ?? null } };
}

function edgeOf(listing, read, place, viewer, now) {
  const values = read.slice(place, place + VALUES_PER_ARTICLE);
  const [member, value, title, link, up, down, poster, time, groups, voted, downvoted] = values;
  const node = articleOf(Number(member), { title, link: link || null, up, down, poster, time, groups });
  node.viewerVote = viewer && now <= node.time + config.votingWindow ? voteOf(voted, downvoted) : null;
  return { cursor: cursorOf(listing, value, member), node };
}

serveMercurius({ Query: { articles } });
