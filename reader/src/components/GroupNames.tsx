import { useQuery } from "urql";
import { graphql } from "../gql";
import { t } from "../words";

const GROUP_NAMES = graphql(`
  query GroupNames {
    groups(first: 100) {
      nodes {
        id
        name
      }
    }
  }
`);

const MOST = 5; // names that are shown

interface GroupNamesProps {
  /** What is typed: names with blanks or commas between them. */
  text: string;
  onChoose: (text: string) => void;
}

/** Buttons with the groups whose names begin as the last name that is typed. The chosen name takes its place. */
export function GroupNames({ text, onChoose }: GroupNamesProps) {
  const [, others = "", begun = ""] = /^(.*?)([^\s,]*)$/s.exec(text.toLowerCase()) ?? [];
  const [{ data }] = useQuery({ query: GROUP_NAMES, pause: begun === "", requestPolicy: "cache-first" });
  const given = new Set(others.split(/[\s,]+/));
  const found = (data?.groups?.nodes ?? []).filter(
    ({ name }) => begun !== "" && name.startsWith(begun) && name !== begun && !given.has(name),
  );
  return (
    <div className="notes" role="group" aria-label={t("completions")}>
      {found.slice(0, MOST).map(({ id, name }) => (
        <button key={id} type="button" onClick={() => onChoose(`${others}${name} `)}>
          <bdi>{name}</bdi>
        </button>
      ))}
    </div>
  );
}
