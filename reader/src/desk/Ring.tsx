import { useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { Time } from "../components/Time";
import { graphql, type DocumentType } from "../gql";
import { ActionDialog } from "./ActionDialog";
import type { Account } from "./ActionForm";
import { mayAnnul, useModerator } from "./authority";
import { useRenewalForModerators } from "./news";
import { kindOf, subjectPath } from "./subjects";
import { t } from "../words";
import { Words } from "../components/Words";

const RING = graphql(`
  query Ring($username: String!) {
    user(username: $username) {
      id
      votingRing {
        id
        foundAt
        memberCount
        votes # of the members for each other
        expected # how many of these chance explains
        coverage # the share of the others' articles that the average member voted on, 0 to 1
        articleVotes # on articles of others in all
        commentVotes
        moved # how many articles would change their place without these votes
        members {
          id
          username
          roles {
            role
            group {
              id
              name
            }
          }
        }
        annulledMembers {
          id
        }
        moves {
          id
          votes
          place
          newPlace
          article {
            id
            title
          }
        }
      }
    }
  }
`);

type FoundRing = NonNullable<NonNullable<DocumentType<typeof RING>["user"]>["votingRing"]>;

/** The ring of a user, if there is one: accounts that vote for each other, as the server's last search found them. */
export function Ring({ username }: { username: string }) {
  const variables = { username };
  const [{ data }] = useQuery({ query: RING, variables, requestPolicy: "cache-and-network" });
  useRenewalForModerators(RING, variables);
  const ring = data?.user?.votingRing;
  return ring ? <Found ring={ring} /> : null;
}

function Found({ ring }: { ring: FoundRing }) {
  const { members, memberCount, votes, expected, coverage, foundAt } = ring;
  const [annulling, setAnnulling] = useState<readonly Account[] | null>(null); // the users of the form that is open
  const moderator = useModerator();
  const annulled = new Set(ring.annulledMembers.map(({ id }) => id));
  const open = members.filter(({ id }) => !annulled.has(id));
  const users = open.filter((member) => mayAnnul(moderator, member));
  const leftOut = open.filter((member) => !users.includes(member));
  return (
    <section aria-labelledby="ring">
      <h3 id="ring">{t("ring-title", { count: memberCount })}</h3>
      <p>
        <Words
          id="ring-text"
          votes={t("votes", { count: votes })}
          expected={Math.round(expected)}
          coverage={Math.round(coverage * 100)}
          time={<Time at={foundAt} />}
        />
      </p>
      <p className="details">
        {members.map(({ id, username }) =>
          kindOf(id) === "user" ? (
            <Link key={id} href={subjectPath(id)} className="user">
              <bdi>{username}</bdi>
            </Link>
          ) : (
            <span key={id}>{username}</span>
          ),
        )}
        {memberCount > members.length && <span>{t("ring-more", { count: memberCount - members.length })}</span>}
      </p>
      {open.length > 0 && <Moves ring={ring} />}
      {annulled.size > 0 && <p>{t("ring-annulled", { count: annulled.size })}</p>}
      {leftOut.length > 0 && (
        <p className="hint">{t("ring-left-out", { names: leftOut.map(({ username }) => username).join(", ") })}</p>
      )}
      {users.length > 0 && (
        <div className="action-buttons">
          <button type="button" onClick={() => setAnnulling(users)}>
            {t("annul-ring", { count: users.length })}
          </button>
        </div>
      )}
      {annulling && <ActionDialog task={{ act: "annul", users: annulling }} onClose={() => setAnnulling(null)} />}
    </section>
  );
}

/** What annulling all votes of the members would move. */
function Moves({ ring: { articleVotes, commentVotes, moved, moves } }: { ring: FoundRing }) {
  return (
    <>
      <p>{t("ring-moves", { articleVotes, commentVotes, articles: t("articles", { count: moved }) })}</p>
      {moves.length > 0 && (
        <ol className="items texts">
          {moves.map(({ id, article, votes, place, newPlace }) => (
            <li key={id} data-keyboard-item="" tabIndex={-1}>
              {article ? (
                <Link href={subjectPath(article.id)} className="clamped" aria-keyshortcuts="o">
                  <bdi>{article.title}</bdi>
                </Link>
              ) : (
                t("text-deleted")
              )}
              <p className="details">{t("ring-loses", { votes: t("votes", { count: votes }), place, newPlace })}</p>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
