import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const UPVOTE = process.env.SERVER_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/graphql": { target: UPVOTE, changeOrigin: true, ws: true } } },
  test: {
    globalSetup: "upvote.setup.ts",
    include: ["src/**/*.test.ts"],
    execArgv: ["--experimental-websocket"], // Node 20 has WebSocket only with this; later ones ignore it
  },
});
