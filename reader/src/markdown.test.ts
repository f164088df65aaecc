// @vitest-environment jsdom
import { expect, test } from "vitest";
import { plainStart, render } from "./markdown";

function html(text: string): string {
  const box = document.createElement("div");
  box.append(render(text));
  return box.innerHTML.trim();
}

test.each([
  ["*one* **two** `three`", "<p><em>one</em> <strong>two</strong> <code>three</code></p>"],
  ["> said\n\nanswered", "<blockquote>\n<p>said</p>\n</blockquote>\n<p>answered</p>"],
  ["3. three", '<ol start="3">\n<li>three</li>\n</ol>'],
  ["- [x] done", "<ul>\n<li>☑ done</li>\n</ul>"],
  ["one \n\ntwo\t", "<p>one</p>\n<p>two</p>"],
  ["# Title", "<p><strong>Title</strong></p>"],
  ["```js\n1 < 2\n```", "<pre><code>1 &lt; 2\n</code></pre>"],
  ["<b>x</b> *and*", "<p>&lt;b&gt;x&lt;/b&gt; <em>and</em></p>"],
  ["<div>\n*one*\n\ntwo", "<p>&lt;div&gt;\n<em>one</em></p>\n<p>two</p>"],
])("%j is rendered", (text, expected) => {
  expect(html(text)).toBe(expected);
});

test.each([
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "one <b onclick=alert(1)>two</b>",
  "<!-- comment -->",
  "<svg><style><!--</style><img src=x onerror=alert(1)>--></svg>",
  "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
  "</div></article><iframe src=//example.com>",
])("HTML is shown as it was written: %s", (text) => {
  const fragment = render(text);

  expect(fragment.textContent?.trim()).toBe(text);
  expect([...fragment.querySelectorAll("*")].map((element) => element.localName)).toEqual(["p"]);
});

test.each([
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](javascript&colon;alert(1))",
  "[x](vbscript:x)",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](//example.com)",
  "[x](/log-in)",
  "[x][1]\n\n[1]: javascript:alert(1)",
  "![x](javascript:alert(1))",
  "<javascript:alert(1)>",
])("no link is made of %s", (text) => {
  expect(render(text).querySelector("a")).toBeNull();
});

test.each([
  ["[x](https://example.com/?a=1&b=2)", "https://example.com/?a=1&b=2", "x"],
  ["https://example.com/a.", "https://example.com/a", "https://example.com/a"],
  ["<mailto:alice@example.com>", "mailto:alice@example.com", "mailto:alice@example.com"],
  ["![](https://example.com/a.png)", "https://example.com/a.png", "https://example.com/a.png"],
  ['![a"b](https://example.com/a.png "t")', "https://example.com/a.png", 'a"b'],
  ['[x](https://example.com/"onclick="alert(1) "t")', "https://example.com/%22onclick=%22alert(1)", "x"],
])("one link is made of %s", (text, href, shown) => {
  const links = [...render(text).querySelectorAll("a")];

  expect(links.map((link) => [link.getAttribute("href"), link.textContent])).toEqual([[href, shown]]);
  expect(links.map((link) => link.getAttributeNames().sort())).toEqual([["href", "rel"]]);
  expect(links[0]?.rel).toBe("nofollow ugc noopener");
});

test("no text has an element that asks another host", () => {
  const texts = [
    "![a](https://example.com/a.png)",
    "<img src=https://example.com>",
    "[![a](https://e.com/a.png)](https://e.com)",
  ];

  for (const text of texts) expect(render(text).querySelector("img, picture, video, source, link, style")).toBeNull();
});

test.each([
  ["ask @alice, @Bob_2 and @c-d.", ["user/alice", "user/Bob_2", "user/c-d"]],
  ["_@alice_ **@bob**", ["user/alice", "user/bob"]],
  ["`@alice` and\n\n    @bob", []],
  ["\\@alice", []],
  ["x@alice a.@bob /@carol @@dave @e", []],
  [`@${"a".repeat(21)}`, []],
  ["[@alice](https://example.com)", ["https://example.com"]],
  ["<b>@alice", ["user/alice"]],
])("the mentions in %j are links to users", (text, expected) => {
  expect([...render(text).querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(expected);
});

test.each([
  ["quotes", "> ".repeat(20_000)],
  ["lists", "- ".repeat(20_000)],
  ["brackets", "[".repeat(40_000)],
  ["pairs of brackets", "[]".repeat(20_000)],
  ["images", "![".repeat(20_000)],
  ["emphasis", "*a **a ".repeat(5_000)],
  ["underscores", "_".repeat(39_999) + "a"],
  ["backticks", "`a``b".repeat(1_000) + "`".repeat(35_000)],
  ["angles", "<".repeat(40_000)],
  ["tags", "<a ".repeat(13_000)],
  ["mentions", "@".repeat(40_000)],
  ["entities", "&#0;&lt;".repeat(5_000)],
  ["tables", "|a".repeat(1_000) + "\n" + "|-".repeat(1_000) + "\n" + "|b".repeat(18_000)],
])("a long text of %s is rendered", { timeout: 20_000 }, (_, text) => {
  expect(render(text).textContent).not.toBe("");
});

test("tables have a bounded number of columns", () => {
  const table = (columns: number) => `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|b".repeat(columns)}|`;

  expect(render(table(19)).querySelectorAll("td").length).toBe(19);
  expect(render(table(40)).querySelector("table")).toBeNull();
  expect(render(table(40)).textContent?.trim()).toBe(table(40));
});

test.each([
  ["a table", `${"|".repeat(20)}\n${"|-".repeat(19)}|\n${"|\n".repeat(15_000)}`],
  ["references", `[a]: https://example.com/${"x".repeat(20_000)}\n\n${"[a] ".repeat(4_000)}`],
])("what becomes too large is shown as it was written: %s", (_, text) => {
  const fragment = render(text);

  expect([...fragment.children].map((element) => element.localName)).toEqual(["pre"]);
  expect(fragment.textContent).toBe(text);
});

test.each([
  [
    "*one* [two](https://example.com/)\n\n- three\n  - four\n\n| a | b |\n|-|-|\n| c | d |",
    "one two three four a b c d",
  ],
  ["one  \ntwo\nthree", "one two three"],
  ["***", "***"],
  ["word ".repeat(41), `${"word ".repeat(39)}word…`],
  ["a".repeat(201), `${"a".repeat(199)}…`],
])("%j begins in plain text", (text, expected) => {
  expect(plainStart(text)).toBe(expected);
});
