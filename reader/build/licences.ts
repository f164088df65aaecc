// A Vite plugin that writes THIRD-PARTY-LICENCES.txt: the licences of all packages that the built files contain.
import { readFileSync, readdirSync } from "node:fs";
import type { Plugin } from "vite";

export function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const folders = modules.map((id) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
      const packages = new Set(folders.filter((folder) => folder !== undefined));
      this.emitFile({ type: "asset", fileName: "reader/THIRD-PARTY-LICENCES.txt", source: texts([...packages]) });
    },
  };
}

/** The licences of the packages in these folders. Packages with the same text share it. */
function texts(folders: string[]): string {
  const names = new Map<string, string[]>(); // by the text of a licence, the packages that have it
  for (const folder of folders.sort()) {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const text = licence(folder);
    names.set(text, [...(names.get(text) ?? []), `${name} ${version}: ${license}`]);
  }
  const parts = [...names].map(([text, lines]) => `${[...new Set(lines)].sort().join("\n")}\n\n${text}`);
  return `${parts.sort().join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** What a package's files with its licence and its notices say. */
function licence(folder: string): string {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  return files.map((file) => readFileSync(`${folder}/${file}`, "utf8").trim()).join("\n\n");
}
