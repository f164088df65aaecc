// A Vite plugin that adds src/before-paint.js to the head of the page. It is a classic script, which runs before the
// browser first paints the page. A module would run after that.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { minifySync, type Plugin } from "vite";

const SOURCE = "src/before-paint.js";

export function themeScript(): Plugin {
  let file = ""; // the path of the source
  let name = ""; // the address of the built file
  return {
    name: "theme-script",
    configResolved({ root }) {
      file = join(root, SOURCE);
    },
    buildStart() {
      this.addWatchFile(file);
    },
    transformIndexHtml(_, { server }) {
      const src = server ? `/${SOURCE}` : name;
      return [{ tag: "script", attrs: { src }, injectTo: "head" }];
    },
    renderStart() {
      if (this.meta.watchMode) return; // the development server serves the source itself
      const source = minifySync(SOURCE, readFileSync(file, "utf8")).code;
      const hash = createHash("sha256").update(source).digest("base64url").slice(0, 8);
      name = `./reader/theme-${hash}.js`;
      this.emitFile({ type: "asset", fileName: name.replace("./", ""), source });
    },
  };
}
