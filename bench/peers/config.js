// The configuration of the peers, which `_config` of bench/__main__.py writes as JSON and describes:
// {url, redis: path of Valkey's socket, keys: {kind: format of the key, with %s for a name or a number},
//  scripts: {name: {keys, text}}, policy: [arguments of both scripts], partitions, placeLifetime, voteWorth and
//  votingWindow: milliseconds}. Besides the port, the number of processes, and the text of the schema.
import { readFileSync } from "node:fs";

export const config = JSON.parse(readFileSync(process.env.BENCH_CONFIG, "utf8"));
export const port = Number(process.env.BENCH_PORT);
export const workers = Number(process.env.BENCH_WORKERS);
export const typeDefs = readFileSync(new URL("./schema.graphql", import.meta.url), "utf8");
