import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { documents } from "./build/documents.ts";
import { licences } from "./build/licences.ts";
import { themeScript } from "./build/theme-script.ts";

// `npm run build` builds the reader into the server's folder of static files. `npm run dev` serves it while it is
// developed, and passes what it asks of the API on to a running server of Upvote.
const SERVER = process.env.SERVER_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "./",
  plugins: [documents(), react(), themeScript(), licences()],
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // they have `light-dark`
    cssCodeSplit: false,
    outDir: "../server/reader/static",
    emptyOutDir: true,
    assetsDir: "reader",
    assetsInlineLimit: 0, // the server's policy allows no inline files
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Few files, so that a change of the sources changes few: packages, what the first page needs, and all other pages.
        // The WebSocket and the renderer of texts are files of their own, as they are not needed at once. `$initial` is
        // Rolldown's tag of modules that the entry loads without `import()`.
        codeSplitting: {
          groups: [
            { name: "packages", tags: ["$initial"], test: /node_modules/, priority: 3 },
            { name: "first", tags: ["$initial"], priority: 2 },
            { name: "socket", test: /node_modules\/graphql-ws/, priority: 2 },
            { name: "pages", test: /\/src\/(?!markdown|components\/RenderedMarkdown)/, priority: 1 },
          ],
        },
      },
    },
  },
  test: { setupFiles: ["src/words.setup.ts"], testTimeout: 30_000 }, // milliseconds, on a busy machine
  server: {
    proxy: {
      // `changeOrigin` would hide the Host of this page: the server takes cookies only from pages of its own host.
      "/graphql": { target: SERVER, ws: true },
      "/explorer": { target: SERVER, changeOrigin: true },
      "^/(.+/)?(rss|atom)\\.xml(\\?|$)": { target: SERVER, changeOrigin: true },
    },
  },
});
