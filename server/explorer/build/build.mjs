// Builds ../static from the pinned packages: the page, its script, styles and icons, three workers, and all licences.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { build } from 'esbuild';

const STATIC = '../static';
const ICONS = `codicon.ttf\n\nMicrosoft's Visual Studio Code icons, under Creative Commons Attribution 4.0.`;
const OPTIONS = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  metafile: true,
  outdir: STATIC,
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  legalComments: 'external', // they go into the licence file
  loader: { '.graphql': 'text', '.ttf': 'file' },
  jsx: 'automatic',
  alias: {
    // GraphiQL asks for two parsers of JavaScript, to format JSON: a smaller one takes their place.
    'prettier/parser-babel': './jsonc.js',
    'prettier/plugins/estree': './jsonc.js',
    'prettier/parser-graphql': 'prettier/plugins/graphql',
  },
};

rmSync(STATIC, { recursive: true, force: true });
mkdirSync(STATIC);

const workers = await build({
  ...OPTIONS,
  entryPoints: {
    'editor.worker': 'monaco-editor/esm/vs/editor/editor.worker.js',
    'graphql.worker': 'monaco-graphql/esm/graphql.worker.js',
    'json.worker': 'monaco-editor/esm/vs/language/json/json.worker.js',
  },
});
const explorer = await build({
  ...OPTIONS,
  entryPoints: ['explorer.jsx'],
  define: {
    'process.env.NODE_ENV': '"production"',
    WORKERS: JSON.stringify({
      editor: built(workers, 'editor.worker', '.js'),
      graphql: built(workers, 'graphql.worker', '.js'),
      json: built(workers, 'json.worker', '.js'),
    }),
  },
});

const page = readFileSync('explorer.html', 'utf8')
  .replace('explorer.css', built(explorer, 'explorer', '.css'))
  .replace('explorer.js', built(explorer, 'explorer', '.js'));
writeFileSync(`${STATIC}/explorer.html`, page);
writeFileSync(`${STATIC}/THIRD-PARTY-LICENCES.txt`, licences([workers, explorer]));

// The name, with its hash, of a file that esbuild has written for an entry point.
function built(result, name, ending) {
  return Object.keys(result.metafile.outputs)
    .map((path) => basename(path))
    .find((file) => file.startsWith(`${name}-`) && file.endsWith(ending));
}

// One text with the licences of all packages that are in the bundles.
function licences(results) {
  const inputs = results.flatMap((result) => Object.keys(result.metafile.inputs));
  const folders = new Set(inputs.map((path) => path.match(/.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
  const packages = new Map(); // by the text of their licence, which many share
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const text = licence(folder);
    packages.set(text, [...(packages.get(text) ?? []), `${name} ${version}: ${license}`]);
  }
  const texts = [...packages].map(([text, names]) => `${names.join('\n')}\n\n${text}`);
  const comments = new Set(results.flatMap(takeComments));
  return [ICONS, ...texts, ...comments].map((text) => text.trim()).join(`\n\n${'-'.repeat(80)}\n\n`).concat('\n');
}

function licence(folder) {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|thirdpartynotices)/i.test(file));
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  return texts.join('\n\n') || 'No text comes with the package.';
}

// The licence comments of the bundles, whose files are removed.
function takeComments(result) {
  const files = Object.keys(result.metafile.outputs).filter((path) => path.endsWith('.LEGAL.txt'));
  return files.map((file) => {
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    return text;
  });
}
