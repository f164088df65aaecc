// Puts each GraphQL document where it is used: graphql(`query ...`) becomes gql("query ...") with its fragments. The
// generated module has the documents of all pages, and the first page would load them all; so it only gives the types.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stripIgnoredCharacters, visit } from "graphql";
import type { Plugin } from "vite";

const CALL = /\bgraphql\(\s*(?:\/\* GraphQL \*\/\s*)?`([^`]*)`,?\s*\)/g;
const SOURCES = "src";

export function documents(): Plugin {
  return {
    name: "documents",
    enforce: "pre",
    transform(code, id) {
      if (!/\.tsx?$/.test(id) || id.includes("/src/gql/") || !code.includes("graphql(")) return null;
      const fragments = fragmentsOf(SOURCES);
      const replaced = code.replace(CALL, (_, text: string) => call(text, fragments));
      return { code: `import { gql as __gql } from "urql";\n${replaced}`, map: null };
    },
  };
}

/** A fragment is used for its type only, so nothing is left of it but an object. */
function call(text: string, fragments: Map<string, string>): string {
  if (/^\s*fragment\s/.test(text)) return "({})";
  const needed = new Map<string, string>();
  collect(text, fragments, needed);
  const whole = stripIgnoredCharacters([text, ...needed.values()].join(" "));
  return `__gql(${JSON.stringify(whole)})`;
}

function collect(text: string, fragments: Map<string, string>, needed: Map<string, string>): void {
  visit(parse(text), {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (fragment === undefined) throw new Error(`no fragment has the name ${name.value}`);
      if (needed.has(name.value)) return;
      needed.set(name.value, fragment);
      collect(fragment, fragments, needed);
    },
  });
}

function fragmentsOf(folder: string): Map<string, string> {
  const fragments = new Map<string, string>();
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  for (const file of files.filter((file) => !file.startsWith("gql")).sort()) {
    for (const [, text = ""] of readFileSync(join(folder, file), "utf8").matchAll(CALL)) {
      const name = /^\s*fragment\s+(\w+)/.exec(text)?.[1];
      if (name !== undefined) fragments.set(name, text);
    }
  }
  return fragments;
}
