// A plugin of prettier for the editors of variables and headers, which are JSON with comments. It takes the place of
// prettier's own plugins, which bring 540 KB of JavaScript parser. The whole text is one node, formatted when parsed.
import { applyEdits, format } from 'jsonc-parser';

export const parsers = {
  jsonc: { parse, astFormat: 'jsonc', locStart: () => 0, locEnd: ({ text }) => text.length },
};

export const printers = {
  jsonc: { print: ({ node }) => node.text },
};

function parse(text) {
  return { text: applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2 })) };
}
