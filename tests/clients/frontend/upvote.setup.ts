import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestProject } from "vitest/node";

const UPVOTE = process.env.UPVOTE ?? "../upvote/.venv/bin/upvote";

/** Starts a server with an empty store and without rate limits, and stops it after all tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "upvote-"));
  const settings = { UPVOTE_RATE_LIMITS: "off", UPVOTE_PORT: "0", UPVOTE_DATA_DIR: folder };
  const env = { ...process.env, ...settings };
  const server = spawn(UPVOTE, ["serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("close", resolve));
  for await (const line of createInterface({ input: server.stdout })) {
    const [name, url] = line.split(/ +/);
    if (name === "endpoint" && url) {
      project.provide("url", url);
      break;
    }
  }
  return async () => {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
}
