// The configuration of the peers: Valkey's socket, formats of keys, Upvote's scripts of votes, port, number of workers.
import { readFileSync } from "node:fs";

export const config = JSON.parse(readFileSync(process.env.BENCH_CONFIG, "utf8"));
export const port = Number(process.env.BENCH_PORT);
export const workers = Number(process.env.BENCH_WORKERS);
export const typeDefs = readFileSync(new URL("./schema.graphql", import.meta.url), "utf8");
