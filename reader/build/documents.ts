// A Vite plugin for the GraphQL documents in the sources.
// It puts each where it is used: a call graphql(`query ...`) becomes gql("query ..."), with the texts of its fragments.
// Otherwise the first page would load the documents of all pages, as src/gql, which graphql-codegen generates, is one
// module with all of them. The sources take only the types from it.
// It also writes documents.json into the build: each operation, as urql sends it, by its SHA-256 hash. A server that
// executes only operations it knows ("trusted documents") reads them there.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatDocument, gql, stringifyDocument } from "@urql/core";
import { parse, stripIgnoredCharacters, visit } from "graphql";
import type { Plugin } from "vite";

// graphql(`...`), also with a comment before the text and a comma after it. The group is the document.
const CALL = /\bgraphql\(\s*(?:\/\* GraphQL \*\/\s*)?`([^`]*)`,?\s*\)/g;

export function documents(): Plugin {
  let sources = "";
  return {
    name: "documents",
    enforce: "pre",
    configResolved({ root }) {
      sources = join(root, "src");
    },
    transform(code, id) {
      if (!/\.tsx?$/.test(id) || !id.startsWith(sources) || id.includes("/src/gql/") || !code.includes("graphql("))
        return null;
      const fragments = fragmentsOf(sources);
      const replaced = code.replace(CALL, (_, text: string) => replacement(text, fragments));
      return { code: `import { gql as __gql } from "urql";\n${replaced}`, map: null };
    },
    generateBundle() {
      const sent = operationsOf(sources).map((text) => stringifyDocument(formatDocument(gql(text))));
      const byHash = Object.fromEntries(sent.sort().map((text) => [sha256(text), text]));
      this.emitFile({ type: "asset", fileName: "documents.json", source: `${JSON.stringify(byHash, null, 2)}\n` });
    },
  };
}

/**
 * The code in place of a call with the document `text`. A fragment is used for its type only, so an empty object takes
 * its place. `fragments` are the texts of all fragments by their names, here and below.
 */
function replacement(text: string, fragments: Map<string, string>): string {
  return isFragment(text) ? "({})" : `__gql(${JSON.stringify(whole(text, fragments))})`;
}

const isFragment = (text: string): boolean => /^\s*fragment\s/.test(text);

/** All operations of the sources, each with its fragments. */
export function operationsOf(folder: string): string[] {
  const fragments = fragmentsOf(folder);
  return textsOf(folder)
    .filter((text) => !isFragment(text))
    .map((text) => whole(text, fragments));
}

/** An operation with its fragments. */
function whole(text: string, fragments: Map<string, string>): string {
  const needed = new Map<string, string>();
  collect(text, fragments, needed);
  return stripIgnoredCharacters([text, ...needed.values()].join(" "));
}

/** Adds the fragments that a document spreads, and those that they spread, to `needed`. */
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

/** The texts of all fragments of the sources, by their names. */
function fragmentsOf(folder: string): Map<string, string> {
  const named = textsOf(folder).map((text): [string, string] => [/^\s*fragment\s+(\w+)/.exec(text)?.[1] ?? "", text]);
  return new Map(named.filter(([name]) => name !== ""));
}

/** All documents of the sources. */
function textsOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  const sources = files.filter((file) => !file.startsWith("gql")).sort();
  return sources.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(CALL)].map(([, text = ""]) => text),
  );
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
