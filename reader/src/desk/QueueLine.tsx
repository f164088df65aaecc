import { Link } from "wouter";
import { withQuery } from "../addresses";
import { Time } from "../components/Time";
import { HeldEdit, HeldWhy } from "../components/HeldEdit";
import { UserLink } from "../components/UserLink";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { QueueLineFragment } from "../gql/graphql";
import { useKeptNode } from "../kept";
import { Buttons } from "./Buttons";
import { Flags } from "./Flags";
import { subjectPath } from "./subjects";
import { t } from "../words";
import { Words } from "../components/Words";

const QUEUE_LINE = graphql(`
  fragment QueueLine on QueueEdge {
    since
    heldBy
    flagReasons
    flags {
      ...FlagLine
    }
    node {
      __typename
      id
      heldReason
      heldEdit {
        ...HeldEditText
      }
      ... on Article {
        title
        content
        state
        isLocked
        poster {
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
        groups {
          id
          name
        }
      }
      ... on Comment {
        content
        state
        author: poster {
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
        article {
          id
          title
          groups {
            id
            name
          }
        }
      }
    }
  }
`);

/**
 * An article or a comment that waits for moderators: what it says, by whom, why and since when it waits, and what may
 * be done.
 */
export function QueueLine({ edge: fragment }: { edge: FragmentType<typeof QUEUE_LINE> }) {
  const { node, since, heldBy, flags, flagReasons } = readFragment(QUEUE_LINE, fragment);
  const waits = useKeptNode(node.__typename, node.id) === undefined; // the queue still has it
  const { name, groups, poster, title, commentedTitle } = partsOf(node);
  return (
    <article className="line" data-keyboard-item="" tabIndex={-1} aria-label={name}>
      <h2 dir="auto">
        <Link href={subjectPath(node.id)} aria-keyshortcuts="o">
          {title}
        </Link>
      </h2>
      {node.content && (
        <p className="excerpt clamped" dir="auto">
          {node.content}
        </p>
      )}
      <div className="details">
        {poster && <UserLink username={poster.username} />}
        <span>
          <Words id={doneTo(node, flagReasons.length > 0)} time={<Time at={since} />} />
        </span>
        {heldBy && (
          <span>
            <HeldWhy rule={heldBy} reason={node.heldReason} />
          </span>
        )}
        {commentedTitle && (
          <span className="on">
            <Words id="on-title" link={<bdi>{commentedTitle}</bdi>} />
          </span>
        )}
        {groups.map((group) => (
          <Link
            key={group}
            href={withQuery("/moderation", { group })}
            className="group"
            title={t("what-waits-in-group")}
          >
            <bdi>{group}</bdi>
          </Link>
        ))}
      </div>
      <HeldEdit edit={node.heldEdit} />
      <Flags flags={flags} reasons={flagReasons} />
      {!waits && <p className="settled">{t("waits-no-longer")}</p>}
      <Buttons
        subject={{ id: node.id, name, poster: poster ?? null, groups }}
        poster={poster}
        state={node.state}
        isLocked={node.__typename === "Article" ? node.isLocked : undefined}
        hasEdit={node.heldEdit != null}
        isQuick
      />
    </article>
  );
}

/** The id of the text that says what was done to a thing when it began to wait. */
function doneTo({ state, heldEdit }: QueueLineFragment["node"], isFlagged: boolean): string {
  if (state === "PENDING") return "posted-at";
  return heldEdit && !isFlagged ? "edited-at" : "flagged-at";
}

/** What a line shows of an article or a comment. */
function partsOf(node: QueueLineFragment["node"]) {
  if (node.__typename === "Article") {
    const groups = node.groups.map(({ name }) => name);
    return { name: node.title, title: node.title, groups, poster: node.poster, commentedTitle: null };
  }
  const { author, article } = node;
  const name = t("comment-by-title", { name: author?.username ?? t("nobody") });
  const groups = article.groups.map((group) => group.name);
  return { name, title: name, groups, poster: author, commentedTitle: article.title };
}
