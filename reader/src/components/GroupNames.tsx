import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { useClient, type Client } from "urql";
import { graphql } from "../gql";
import { t } from "../words";

const GROUP_NAMES = graphql(`
  query GroupNames($after: String) {
    groups(first: 100, after: $after) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const MOST = 5; // names that are shown
const MOST_PAGES = 20; // of 100 names each, which are asked for one after the other

interface GroupNamesProps {
  /** What is typed: names with blanks or commas between them. */
  text: string;
  onChoose: (text: string) => void;
  /** The field in which it is typed. */
  children: ReactNode;
}

/**
 * A field for names of groups. Below it, buttons offer groups whose names begin like the last name that is typed; the
 * one that is chosen takes its place. The arrow keys go from the field to the buttons, and back.
 */
export function GroupNames({ text, onChoose, children }: GroupNamesProps) {
  const area = useRef<HTMLDivElement>(null);
  // the last name that is typed, and all before it
  const [, others = "", begun = ""] = /^(.*?)([^\s,]*)$/s.exec(text.toLowerCase()) ?? [];
  const given = new Set(others.split(/[\s,]+/));
  const found = useNames(begun).filter((name) => name.startsWith(begun) && name !== begun && !given.has(name));

  function move(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.nativeEvent.isComposing) return;
    const places = [...(area.current?.querySelectorAll<HTMLElement>("input, button") ?? [])];
    const next = places[places.findIndex((place) => place === document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  function choose(name: string) {
    area.current?.querySelector("input")?.focus(); // the button will be gone
    onChoose(`${others}${name} `);
  }

  return (
    <div className="field" ref={area} onKeyDown={move}>
      {children}
      <div className="notes" role="group" aria-label={t("completions")}>
        {found.slice(0, MOST).map((name) => (
          <button key={name} type="button" onClick={() => choose(name)}>
            <bdi>{name}</bdi>
          </button>
        ))}
      </div>
    </div>
  );
}

/** The names of groups, which are sorted: from the first one on, as far as names can begin with `begun`. */
function useNames(begun: string): readonly string[] {
  const client = useClient();
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    let isOutdated = false;
    if (begun !== "") void load(client, begun).then((loaded) => isOutdated || setNames(loaded));
    return () => {
      isOutdated = true;
    };
  }, [client, begun]);
  return begun === "" ? [] : names;
}

async function load(client: Client, begun: string, after?: string | null, pages = MOST_PAGES): Promise<string[]> {
  const { data } = await client.query(GROUP_NAMES, { after }, { requestPolicy: "cache-first" });
  const names = (data?.groups?.nodes ?? []).map(({ name }) => name);
  const { hasNextPage, endCursor } = data?.groups?.pageInfo ?? {};
  const last = names.at(-1) ?? "";
  const isEnough = !hasNextPage || pages === 1 || (last > begun && !last.startsWith(begun)); // they are sorted
  return isEnough ? names : [...names, ...(await load(client, begun, endCursor, pages - 1))];
}
