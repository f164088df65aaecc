import { useQuery } from "urql";
import { Link } from "wouter";
import { Time } from "../components/Time";
import { counted } from "../counts";
import { graphql, type DocumentType } from "../gql";
import { kindOf, subjectPath } from "./subjects";

const RING = graphql(`
  query Ring($username: String!) {
    user(username: $username) {
      id
      votingRing {
        id
        foundAt
        memberCount
        votes
        expected
        coverage
        articleVotes
        commentVotes
        moved
        members {
          id
          username
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

/** The accounts with which the last search for rings has found a user, for moderators of the site; else nothing. */
export function Ring({ username }: { username: string }) {
  const [{ data }] = useQuery({ query: RING, variables: { username }, requestPolicy: "cache-and-network" });
  const ring = data?.user?.votingRing;
  return ring ? <Found ring={ring} /> : null;
}

function Found({ ring }: { ring: FoundRing }) {
  const { members, memberCount, votes, expected, coverage, foundAt } = ring;
  return (
    <section aria-labelledby="ring">
      <h3 id="ring">In a ring of {counted(memberCount, "account")}</h3>
      <p>
        {counted(votes, "vote")} for each other, of which chance explains {Math.round(expected)}. Each has voted for{" "}
        {Math.round(coverage * 100)} % of what the others have posted. Found <Time at={foundAt} />.
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
        {memberCount > members.length && <span>and {memberCount - members.length} more</span>}
      </p>
      <Moves ring={ring} />
    </section>
  );
}

/** What annulling all votes of the members would move. */
function Moves({ ring: { articleVotes, commentVotes, moved, moves } }: { ring: FoundRing }) {
  return (
    <>
      <p>
        Annulling all their votes takes {articleVotes} on articles and {commentVotes} on comments, and moves{" "}
        {counted(moved, "article")} by score.
      </p>
      {moves.length > 0 && (
        <ol className="items texts">
          {moves.map(({ id, article, votes, place, newPlace }) => (
            <li key={id} data-item="" tabIndex={-1}>
              {article ? (
                <Link href={subjectPath(article.id)} className="clamped" aria-keyshortcuts="o">
                  <bdi>{article.title}</bdi>
                </Link>
              ) : (
                "deleted"
              )}
              <p className="details">
                loses {counted(votes, "vote")}: place {place} → {newPlace}
              </p>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
