import "./standing.css";
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { useQuery } from "urql";
import { explain } from "../errors";
import { graphql, type DocumentType } from "../gql";
import type { Ranking } from "../ranking";
import { partsOf, wayUp, type Part } from "../standing";
import { votesSent } from "../votes";
import { t } from "../words";
import { nameOf } from "./Orders";

const STANDING = graphql(`
  query Standing($id: ID!, $order: ArticleOrder!, $group: String) {
    article(id: $id) {
      id
      postedAt
      isVotingOpen
      standing(order: $order, group: $group) {
        rank
        terms {
          name
          value
        }
        votesToNextRank
      }
    }
  }
`);

interface StandingProps {
  /** The id of its element. */
  boxId: string;
  articleId: string;
  ranking: Ranking;
}

/** Why an article stands where it does: its place, the parts of its value as a bar, and what would move it up. */
export default function Standing({ boxId, articleId, ranking }: StandingProps) {
  const { order, group } = ranking;
  const variables = { id: articleId, order, ...(group !== undefined && { group }) };
  const box = useRef<HTMLDivElement>(null);
  const isAbove = useIsAbove(box);
  const [isSent, setSent] = useState(false); // the page shows a vote before the server has counted it
  useEffect(() => void votesSent(articleId).then(() => setSent(true)), []);
  const [{ data, error }] = useQuery({ query: STANDING, variables, pause: !isSent, requestPolicy: "network-only" });
  return (
    <div className="standing" role="tooltip" id={boxId} ref={box} data-above={isAbove || undefined}>
      {error ? explain(error) : data ? <Reasons article={data.article} {...ranking} /> : "…"}
    </div>
  );
}

/** Whether a box is shown above what it belongs to: the window has room for it there, but not below. */
function useIsAbove(box: RefObject<HTMLElement | null>): boolean {
  const [isAbove, setAbove] = useState(false);
  useLayoutEffect(() => {
    const place = box.current?.offsetParent?.getBoundingClientRect();
    if (!box.current || !place) return;
    const { height } = box.current.getBoundingClientRect();
    setAbove(place.bottom + height > innerHeight && place.top >= height);
  });
  return isAbove;
}

function Reasons({ article, ...ranking }: Ranking & { article: DocumentType<typeof STANDING>["article"] }) {
  const standing = article?.standing;
  if (!standing) return t("standing-none");
  const { rank, terms, votesToNextRank } = standing;
  const { order, isHome } = ranking;
  const parts = partsOf(order, terms, Date.parse(article.postedAt), Date.now());
  return (
    <>
      <b>{placeOf(rank, ranking)}</b>
      <Bar parts={parts} />
      <dl>
        {parts.map((part) => (
          <div key={part.name}>
            <dt>{t(`part-${part.name.replaceAll(" ", "-")}`)}</dt>
            <dd>{part.text}</dd>
          </div>
        ))}
      </dl>
      <p>{wayUp(order, rank, votesToNextRank ?? null, article.isVotingOpen)}</p>
      {isHome && <p>{t("standing-home")}</p>}
    </>
  );
}

/** The place in a ranking, in words. */
function placeOf(rank: number, { order, group, isHome }: Ranking): string {
  const given = { rank, order: nameOf(order) };
  if (isHome) return t("standing-place-on-site", given);
  return group === undefined ? t("standing-place", given) : t("standing-place-in-group", { ...given, group });
}

/** The parts beside each other, each as long as its share of them. */
function Bar({ parts }: { parts: readonly Part[] }) {
  const whole = parts.reduce((sum, { value }) => sum + Math.abs(value), 0);
  let start = 0;
  return (
    <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ name, value }) => {
        const width = (100 * Math.abs(value)) / whole;
        start += width;
        return <rect key={name} className={value > 0 ? "gain" : "loss"} x={start - width} width={width} height="4" />;
      })}
    </svg>
  );
}
