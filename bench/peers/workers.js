// Runs `start`, which starts a server, in as many processes as are wanted, behind one port.
import cluster from "node:cluster";
import { workers } from "./config.js";

export function serve(start) {
  if (workers === 1 || cluster.isWorker) return start();
  for (let count = 0; count < workers; count++) cluster.fork();
  process.on("SIGTERM", () => process.exit(0));
}
