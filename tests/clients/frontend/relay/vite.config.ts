import babel from "@rolldown/plugin-babel";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const UPVOTE = process.env.SERVER_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react(), babel({ plugins: [["relay", { eagerEsModules: true }]] })],
  server: { proxy: { "/graphql": { target: UPVOTE, changeOrigin: true, ws: true } } },
});
