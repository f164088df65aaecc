import { expect, test } from "vitest";
import { outOfSight, postedSince, rows, type Comment, type Pages, type Row, type Thread } from "./thread";

/** Pages from lines such as `a`, ` b`, `  c DELETED`, ` d +3` for three hidden replies; `...` for a next page. */
function pages(...lines: string[]): Pages<Comment> {
  const places = lines
    .filter((line) => line !== "...")
    .map((line) => {
      const [id = "", ...notes] = line.trim().split(" ");
      const depth = line.length - line.trimStart().length;
      const comment = { id, depth, state: notes.includes("DELETED") ? "DELETED" : "VISIBLE" };
      return { comment, hiddenReplyCount: Number(notes.find((note) => note.startsWith("+")) ?? 0) };
    });
  return { places, hasNextPage: lines.at(-1) === "..." };
}

function thread(lines: string[], rest: Partial<Thread<Comment>> = {}): Thread<Comment> {
  const none = new Set<string>();
  const empty = { nextDepth: 0, branches: new Map(), posted: [], collapsed: none, kept: none, isOldestFirst: false };
  return { pages: pages(...lines), ...empty, ...rest };
}

const posted = (id: string, depth: number, parentId: string | null) => ({
  comment: { id, depth, state: "VISIBLE" },
  parentId,
});

/**
 * The rows in the same notation: `a [+3]` is a collapsed comment with three below it, `+3 of a` offers three hidden
 * replies.
 */
function shown(thread: Thread<Comment>): string[] {
  return rows(thread).map((row) => " ".repeat(row.depth) + name(row));
}

function name(row: Row<Comment>): string {
  if (row.kind === "hidden") return `+${row.count} of ${row.under}`;
  if (row.kind === "more") return row.under === null ? "..." : `... of ${row.under}`;
  return row.isCollapsed ? `${row.comment.id} [+${row.folded}]` : row.comment.id;
}

test("a page is shown as it is", () => {
  expect(shown(thread(["a", " b", "  c", " d", "e"]))).toEqual(["a", " b", "  c", " d", "e"]);
});

test("a thread without comments has no rows", () => {
  expect(shown(thread([]))).toEqual([]);
});

test("a next page is offered at the end", () => {
  expect(shown(thread(["a", " b", "..."]))).toEqual(["a", " b", "..."]);
});

test("a comment that two pages have is shown once", () => {
  expect(shown(thread(["a", " b", "c", " b", "d"]))).toEqual(["a", " b", "c", "d"]);
});

test("replies that are too deep are offered where they belong", () => {
  expect(shown(thread(["a", " b +12", "c"]))).toEqual(["a", " b", "  +12 of b", "c"]);
});

test("a loaded branch stands below its comment, with its own next page", () => {
  const branches = new Map([["b", pages("  c", "   d +2", "...")]]);

  expect(shown(thread(["a", " b +4", "e"], { branches }))).toEqual([
    "a",
    " b",
    "  c",
    "   d",
    "    +2 of d",
    "  ... of b",
    "e",
  ]);
});

test("a branch within a branch is shown", () => {
  const branches = new Map([
    ["a", pages(" b +1")],
    ["b", pages("  c")],
  ]);

  expect(shown(thread(["a +2"], { branches }))).toEqual(["a", " b", "  c"]);
});

test("a branch begins with what is above it, and its next page belongs to it", () => {
  const some = thread(["   x", "    y", "     a", "..."], { nextDepth: 5, posted: [posted("p", 5, "y")] });

  expect(shown(some)).toEqual(["   x", "    y", "     p", "     a", "     ..."]);
  expect(shown({ ...some, collapsed: new Set(["y"]) })).toEqual(["   x", "    y [+2]"]);
});

test("a collapsed comment hides and counts what is below it", () => {
  const collapsed = new Set(["b"]);

  expect(shown(thread(["a", " b", "  c", "   d +5", " e", "..."], { collapsed }))).toEqual([
    "a",
    " b [+7]",
    " e",
    "...",
  ]);
});

test("a collapsed comment within another one stays collapsed", () => {
  const lines = ["a", " b", "  c", "d"];

  expect(shown(thread(lines, { collapsed: new Set(["a", "b"]) }))).toEqual(["a [+2]", "d"]);
  expect(shown(thread(lines, { collapsed: new Set(["b"]) }))).toEqual(["a", " b [+1]", "d"]);
});

test("a collapsed comment hides what the next page has below it", () => {
  expect(shown(thread(["a", " b", " c", "d"], { collapsed: new Set(["a"]) }))).toEqual(["a [+2]", "d"]);
});

test("the next page is offered also if the last comment is collapsed", () => {
  expect(shown(thread(["a", " b", "..."], { collapsed: new Set(["a"]) }))).toEqual(["a [+1]", "..."]);
});

test("posted comments stand first below what they answer", () => {
  const added = { posted: [posted("p", 0, null), posted("q", 1, "a"), posted("r", 1, "p"), posted("s", 0, null)] };

  expect(shown(thread(["a", " b", "c"], added))).toEqual(["s", "p", " r", "a", " q", " b", "c"]);
});

test("where the oldest is first, posted comments stand last", () => {
  const added = { isOldestFirst: true, posted: [posted("p", 0, null), posted("q", 1, "a"), posted("r", 2, "b")] };

  expect(shown(thread(["a", " b", "c", "..."], added))).toEqual(["a", " b", "  r", " q", "c", "...", "p"]);
});

test("a posted comment that a page has is shown where the page has it", () => {
  expect(shown(thread(["a", " b", "c"], { posted: [posted("b", 1, "a")] }))).toEqual(["a", " b", "c"]);
});

test("a posted reply to what is not loaded is out of sight", () => {
  const some = thread(["a", "..."], { posted: [posted("p", 1, "a"), posted("q", 5, "x"), posted("r", 6, "q")] });

  expect(shown(some)).toEqual(["a", " p", "..."]);
  expect([...outOfSight(some)]).toEqual(["q", "r"]);
});

test("a deleted comment stays for its replies only", () => {
  expect(shown(thread(["a DELETED", " b", "c DELETED", " d DELETED", "e"]))).toEqual(["a", " b", "e"]);
});

test("a deleted comment stays while one points at the thread", () => {
  expect(shown(thread(["a", " b DELETED", "c DELETED"], { kept: new Set(["b"]) }))).toEqual(["a", " b"]);
});

test("a deleted comment stays while its replies have not been loaded", () => {
  expect(shown(thread(["a DELETED +2", "b", "c DELETED", "..."]))).toEqual(["a", " +2 of a", "b", "c", "..."]);
});

test("a deleted comment stays for a posted reply", () => {
  expect(shown(thread(["a DELETED"], { posted: [posted("p", 1, "a")] }))).toEqual(["a", " p"]);
});

test("rows name the comment that they answer", () => {
  const parents = rows(thread(["a", " b", "  c", " d", "e"])).map((row) => row.kind === "comment" && row.parent?.id);

  expect(parents).toEqual([undefined, "a", "b", "a", undefined]);
});

test("a thread of ten thousand comments, a hundred deep, is put together without recursion over its depth", () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => " ".repeat(index % 100) + `c${index}`);
  const all = rows(thread(lines, { collapsed: new Set(["c150"]), posted: [posted("p", 100, "c99")] }));

  expect(all.length).toBe(10_000 + 1 - 49); // and "p", without c151 to c199, which are below c150
  expect(all[100]).toMatchObject({ depth: 100, comment: { id: "p" }, parent: { id: "c99" } });
});

test("comments that are not known were posted since the whole thread was read", () => {
  const whole = thread(["a", " b"], { posted: [posted("c", 0, null)], collapsed: new Set(["a"]) });
  expect(since(whole, ["a 5", "b 15", "c 15", "d 5", "e 15"])).toEqual(["d", "e"]);
});

test("in a thread that is not loaded to its end the time decides", () => {
  expect(since(thread(["a", "..."]), ["a 5", "b 5", "c 15"])).toEqual(["c"]);
  expect(since(thread(["a +1"]), ["a 5", "b 5", "c 15"])).toEqual(["c"]);
});

/** Which of some comments, given with the second of their posting, were posted since a thread was read in second 10. */
function since(thread: Thread<Comment>, lines: string[]): string[] {
  const all = lines.map((line) => line.split(" ")).map(([id = "", second = ""]) => ({ id, postedAt: at(second) }));
  return postedSince(thread, Date.parse(at("10")), all).map(({ id }) => id);
}

const at = (second: string) => `2026-11-22T12:00:${second.padStart(2, "0")}Z`;
