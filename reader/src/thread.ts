/**
 * What a thread shows. The server sends it flat, each comment before its replies. This module puts together its pages,
 * the pages of branches that are too deep for these, and comments that were posted after the pages were read.
 */

export interface Comment {
  readonly id: string;
  readonly depth: number;
  readonly state: string;
}

/** A comment of a page, and the number of replies that are too deep for the page. */
export interface Place<C extends Comment> {
  readonly comment: C;
  readonly hiddenReplyCount: number;
}

/** The pages that have been read of a thread, or of the comments below one. */
export interface Pages<C extends Comment> {
  readonly places: readonly Place<C>[];
  readonly hasNextPage: boolean;
}

/** A comment that was posted after the pages were read. Without a parent it answers the article. */
export interface Posted<C extends Comment> {
  readonly comment: C;
  readonly parentId: string | null;
}

export interface Thread<C extends Comment> {
  /** Of the whole thread. On the page of one comment: of its branch, after the comments above it. */
  readonly pages: Pages<C>;
  /** The depth of the comments that the next page of the thread begins with: 0, or more in a branch. */
  readonly nextDepth: number;
  /** Branches that were too deep and have been opened, by the id of the comment above. */
  readonly branches: ReadonlyMap<string, Pages<C>>;
  /** Oldest first. */
  readonly posted: readonly Posted<C>[];
  /** The ids of comments that are shown without their replies. */
  readonly collapsed: ReadonlySet<string>;
  readonly isOldestFirst: boolean;
  /** The ids of comments that were deleted while the user pointed at the thread: they keep their places. */
  readonly kept: ReadonlySet<string>;
}

/**
 * A row of the thread on the screen: a comment, with how many are folded below it if it is collapsed; replies that are
 * too deep and not loaded; or a next page. `under` is the comment above what can be loaded, null for the thread itself.
 */
export type Row<C extends Comment> =
  | { kind: "comment"; comment: C; depth: number; parent: C | null; isCollapsed: boolean; folded: number }
  | { kind: "hidden"; under: string; depth: number; count: number }
  | { kind: "more"; under: string | null; depth: number };

type CommentRow<C extends Comment> = Extract<Row<C>, { kind: "comment" }>;

/** The rows of a thread, in order: comments, and where more can be loaded. */
export function rows<C extends Comment>(thread: Thread<C>): Row<C>[] {
  const all = withoutStubs(withPosted(loaded(thread), thread), thread.kept);
  return withParents(folded(all, thread.collapsed));
}

/** The ids of posted comments that cannot be shown yet, because what they answer has not been loaded. */
export function outOfSight<C extends Comment>(thread: Thread<C>): Set<string> {
  const shown = new Set(
    withPosted(loaded(thread), thread).map((row) => (row.kind === "comment" ? row.comment.id : null)),
  );
  return new Set(thread.posted.map(({ comment }) => comment.id).filter((id) => !shown.has(id)));
}

/** A comment that the server has, with the instant of its posting. */
export interface Dated {
  readonly id: string;
  readonly postedAt: string;
}

/**
 * Which of `all` were posted after the thread was read, at `readAt` in unix milliseconds. An unknown comment may also
 * belong to a part that has not been loaded: if there are such parts, the times of the comments decide.
 */
export function postedSince<C extends Comment, D extends Dated>(
  thread: Thread<C>,
  readAt: number,
  all: readonly D[],
): D[] {
  const rows = withPosted(loaded(thread), thread);
  const known = new Set(rows.map((row) => (row.kind === "comment" ? row.comment.id : null)));
  const isWhole = rows.every((row) => row.kind === "comment");
  return all.filter(({ id, postedAt }) => !known.has(id) && (isWhole || Date.parse(postedAt) > readAt));
}

/** The rows of all that has been read, each branch below its comment. */
function loaded<C extends Comment>({ pages, branches, nextDepth }: Thread<C>): Row<C>[] {
  const seen = new Set<string>(); // ids: two pages may have the same comment
  const list = (part: Pages<C>, under: string | null, depth: number): Row<C>[] => {
    const rows = part.places.flatMap((place) => (seen.has(place.comment.id) ? [] : [row(place), ...below(place)]));
    return part.hasNextPage ? [...rows, { kind: "more", under, depth }] : rows;
  };
  const row = ({ comment }: Place<C>): Row<C> => {
    seen.add(comment.id);
    return { kind: "comment", comment, depth: comment.depth, parent: null, isCollapsed: false, folded: 0 };
  };
  const below = ({ comment: { id, depth }, hiddenReplyCount: count }: Place<C>): Row<C>[] => {
    const branch = branches.get(id);
    if (branch) return list(branch, id, depth + 1);
    return count > 0 ? [{ kind: "hidden", under: id, depth: depth + 1, count }] : [];
  };
  return list(pages, null, nextDepth);
}

/** Put posted comments that no page has yet below what they answer: first, or last where the oldest is first. */
function withPosted<C extends Comment>(rows: Row<C>[], { posted, isOldestFirst }: Thread<C>): Row<C>[] {
  const all = [...rows];
  for (const { comment, parentId } of posted) {
    if (placeOf(all, comment.id) >= 0) continue;
    const parent = placeOf(all, parentId);
    if (parent < 0 && parentId !== null) continue;
    const place = isOldestFirst ? endOf(all, parent) : parent + 1;
    all.splice(place, 0, {
      kind: "comment",
      comment,
      depth: comment.depth,
      parent: null,
      isCollapsed: false,
      folded: 0,
    });
  }
  return all;
}

function placeOf<C extends Comment>(rows: readonly Row<C>[], id: string | null): number {
  return rows.findIndex((row) => row.kind === "comment" && row.comment.id === id);
}

/** The place after everything below the row at `index`; -1 stands for the article. */
function endOf<C extends Comment>(rows: readonly Row<C>[], index: number): number {
  const depth = rows[index]?.depth ?? -1;
  const after = rows.slice(index + 1).findIndex((row) => row.depth <= depth);
  return after < 0 ? rows.length : index + 1 + after;
}

/** Leave out deleted comments that have nothing below them: the server keeps them for their replies only. */
function withoutStubs<C extends Comment>(rows: Row<C>[], kept: ReadonlySet<string>): Row<C>[] {
  const remaining: Row<C>[] = []; // the last row first
  for (const row of rows.toReversed()) {
    const next = remaining.at(-1); // the row below; the next page of the thread may begin with replies
    const hasReplies = next !== undefined && (next.depth > row.depth || (next.kind === "more" && next.under === null));
    const isStub = row.kind === "comment" && row.comment.state === "DELETED" && !kept.has(row.comment.id);
    if (!isStub || hasReplies) remaining.push(row);
  }
  return remaining.reverse();
}

/** Leave out what is below collapsed comments, and count it. */
function folded<C extends Comment>(rows: Row<C>[], collapsed: ReadonlySet<string>): Row<C>[] {
  const shown: Row<C>[] = [];
  let fold: CommentRow<C> | null = null; // the collapsed comment that hides rows after it
  for (const row of rows) {
    if (fold && row.depth > fold.depth) {
      fold.folded += row.kind === "comment" ? 1 : row.kind === "hidden" ? row.count : 0;
      continue;
    }
    fold = null;
    if (row.kind === "comment" && collapsed.has(row.comment.id)) {
      fold = { ...row, isCollapsed: true };
      shown.push(fold);
    } else shown.push(row);
  }
  return shown;
}

/** Set the parent of each comment that answers another one. */
function withParents<C extends Comment>(rows: Row<C>[]): Row<C>[] {
  const above: C[] = []; // by depth, the comments above the next row
  return rows.map((row) => {
    if (row.kind !== "comment") return row;
    const parent = above.slice(0, row.depth).findLast(Boolean) ?? null;
    above.length = Math.min(above.length, row.depth);
    above[row.depth] = row.comment;
    return { ...row, parent };
  });
}
