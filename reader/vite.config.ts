import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { documents } from "./build/documents.ts";
import { licences } from "./build/licences.ts";
import { themeScript } from "./build/theme-script.ts";

const UPVOTE = process.env.SERVER_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "./",
  plugins: [documents(), react(), themeScript(), licences()],
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // they have `light-dark`
    outDir: "../server/reader/static",
    emptyOutDir: true,
    assetsDir: "reader",
    assetsInlineLimit: 0, // the server's policy allows no inline files
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // one file for all that the first page imports, instead of a small one for each module that others import too
      output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } },
    },
  },
  server: {
    proxy: {
      "/graphql": { target: UPVOTE, changeOrigin: true, ws: true },
      "/explorer": { target: UPVOTE, changeOrigin: true },
      "^/(.+/)?(rss|atom)\\.xml(\\?|$)": { target: UPVOTE, changeOrigin: true },
    },
  },
});
