// What the peers in Node read from Valkey: DataLoaders made for each request, each batch one pipeline.
// A place is an entry of a listing: its member, the number of an article, and its value.
import { createHash } from "node:crypto";
import DataLoader from "dataloader";
import { Redis } from "ioredis";
import { config } from "./config.js";

const VOTES = { 1: "UP", 0: "NONE", "-1": "DOWN" };

export const redis = new Redis(config.redis);
for (const [name, { keys, text }] of Object.entries(config.scripts)) {
  redis.defineCommand(name, { numberOfKeys: keys.length, lua: text });
}

export const key = (kind, name = "") => config.keys[kind].replace("%s", () => name);

// The name of a listing, as its cursors have it, and its index.
export const listingOf = (group) => (group ? [`group:${group}:score`, key("group", group)] : ["score", key("score")]);

// What one request knows. Closures, since yoga copies its fields to a context of its own.
export function contextOf(authorization) {
  const digest = authorization && digestOf(authorization.slice("Bearer ".length));
  let login;
  const viewer = () => (login ??= digest ? readLogin(digest) : Promise.resolve(null));
  return {
    digest,
    viewer,
    articles: new DataLoader(readArticles),
    votes: new DataLoader(async (numbers) => readVotes(numbers, await viewer())),
    timelines: new DataLoader(readRanges, { cacheKeyFn: ({ name, first }) => `${name} ${first}` }),
    voters: new DataLoader(readVoters),
  };
}

// The places of a page, and one more if there is a next page. `after` is a cursor's [listing, value, member].
export async function page(index, first, after) {
  const from = after ? `(${after[1]}` : "+inf";
  return pairs(await redis.zrange(index, from, "-inf", "BYSCORE", "REV", "LIMIT", 0, first + 1, "WITHSCORES"));
}

// The same of a feed: the newest articles of a user and of those whom they follow.
export async function feed(username, first) {
  const names = await redis.zrange(key("following", username), 0, -1);
  const ranges = await readRanges([username, ...names].map((name) => ({ name, first })));
  return ranges.flat().sort(highestFirst).slice(0, first + 1);
}

// Votes run the very scripts that the project runs. They get the `digest` that names the voter's session, and "" in place
// of a username.
export const castVote = (digest, number, vote) => cast("vote", digest, [number, vote]);

export const castVoteOnComment = (digest, number, vote) =>
  cast("voteOnComment", digest, [config.partitions, number, vote, config.placeLifetime]);

async function cast(name, digest, given) {
  const [status, , fields] = await redis[name](
    ...config.scripts[name].keys, "", digest, Date.now(), ...config.policy, ...given,
  );
  const hash = {};
  for (let place = 0; place < fields.length; place += 2) hash[fields[place]] = fields[place + 1];
  return { changed: status === "voted", hash };
}

export const commentOf = (number, hash) => ({
  number,
  time: Number(hash.time),
  votes: hash.up - hash.down,
  id: `comment:${number}`,
});

export function articleOf(number, hash) {
  const votes = hash.up - hash.down;
  const time = Number(hash.time);
  return {
    number,
    time,
    votes,
    id: `article:${number}`,
    title: hash.title,
    link: hash.link,
    score: (time + config.voteWorth * votes) / 1000,
    postedAt: new Date(time).toISOString(),
    poster: userOf(hash.poster),
    groups: hash.groups ? hash.groups.split(" ").map((name) => ({ id: `group:${name}`, name })) : [],
  };
}

export const voteOf = (voted, downvoted) => VOTES[voted - downvoted];

export const userOf = (username) => ({ id: `user:${username.toLowerCase()}`, username });

export async function readArticles(numbers) {
  const hashes = await piped(numbers.map((number) => ["hgetall", key("article", number)]));
  return hashes.map((hash, place) => (hash.title === undefined ? null : articleOf(numbers[place], hash)));
}

export async function readVotes(numbers, viewer) {
  const commands = numbers.flatMap((number) => [
    ["sismember", key("voted", number), viewer],
    ["sismember", key("downvoted", number), viewer],
  ]);
  const found = await piped(commands);
  return numbers.map((_, place) => voteOf(found[2 * place], found[2 * place + 1]));
}

// The newest places of timelines: `first` of each, and one more if there is a next page.
export async function readRanges(asked) {
  const commands = asked.map(({ name, first }) => [
    "zrange", key("timeline", name.toLowerCase()), 0, first, "REV", "WITHSCORES",
  ]);
  return (await piped(commands)).map(pairs);
}

export async function readVoters(numbers) {
  const sets = await piped(numbers.map((number) => ["smembers", key("voted", number)]));
  return sets.map((names) => names.sort((one, other) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1)));
}

async function readLogin(digest) {
  const session = await redis.get(key("session", digest));
  if (!session) return null;
  const [username, expiresAt] = session.split(" ");
  return Number(expiresAt) < Date.now() ? null : username;
}

async function piped(commands) {
  const replies = await redis.pipeline(commands).exec();
  return replies.map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

function pairs(flat) {
  const places = [];
  for (let place = 0; place < flat.length; place += 2) places.push({ member: flat[place], value: flat[place + 1] });
  return places;
}

const highestFirst = (one, other) => other.value - one.value || (one.member < other.member ? 1 : -1);
const digestOf = (token) => createHash("sha256").update(Buffer.from(token, "base64url")).digest("hex");
