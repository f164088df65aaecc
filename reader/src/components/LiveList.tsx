import { useRef, type HTMLAttributes, type ReactNode } from "react";
import type { Arrivals } from "../arrivals";
import { KeptContext, useKept } from "../kept";
import { finishMoves, unpin, useMarkedMoves, usePinnedRows } from "../rows";
import { useStill } from "../still";
import { Announcement } from "./Announcement";
import { t } from "../words";

interface LiveListProps<Item> {
  items: readonly Item[];
  idOf: (item: Item) => string;
  /** The text that says how many new ones there are, such as `new-articles`. */
  textOfNews: string;
  /** The style of the list: `articles`, `items`, `groups` or `people`. */
  className: string;
  /** Attributes of each row. With `data-keyboard-item` the keys j and k go to it. */
  row?: HTMLAttributes<HTMLLIElement> & { "data-keyboard-item"?: string };
  /** The content of a row. */
  children: (item: Item, index: number) => ReactNode;
  /** What stands instead of an empty list. */
  empty?: ReactNode;
  /** How many new items are not read yet, and a function that reads them. */
  arrivals?: Arrivals;
}

/** A list whose rows stay in their places while the user points at it. What is new waits behind a button meanwhile. */
export function LiveList<Item>(props: LiveListProps<Item>) {
  const { items, idOf, textOfNews, className, row, children, empty, arrivals } = props;
  const list = useRef<HTMLOListElement>(null);
  const announcement = useRef<HTMLDivElement>(null);
  const held = { list, announcement };
  // The rows that are shown: while the user points at the list, those of when that began.
  const still = useStill(items, idOf, held, {
    onHold: () => finishMoves(list.current),
    onRelease: () => unpin(list.current),
  });
  const kept = useKept(still.gone); // the data of shown rows that `items` no longer has
  const ids = still.items.map(idOf);
  useMarkedMoves(list, ids.join(" "));
  usePinnedRows(list, ids.join(" "), still.hold);
  const count = still.news + (arrivals?.count ?? 0);

  async function show() {
    await arrivals?.show();
    still.show();
  }

  return (
    <>
      <Announcement
        box={announcement}
        text={count > 0 ? t(textOfNews, { count }) : still.isReordered ? t("new-order") : null}
        show={() => void show()}
      />
      {still.items.length === 0 ? (
        empty
      ) : (
        <KeptContext value={kept}>
          <ol className={className} ref={list}>
            {still.items.map((item, index) => (
              <li key={ids[index]} data-id={ids[index]} {...row}>
                {children(item, index)}
              </li>
            ))}
          </ol>
        </KeptContext>
      )}
    </>
  );
}
