import { Link } from "wouter";
import { articlePath, commentPath } from "../addresses";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ModerationLineFragment } from "../gql/graphql";
import { mayAppeal, sentenceOf } from "../moderation";
import { useNow } from "../times";
import { Appeal } from "./Appeal";
import { Reason } from "./Reason";
import { Time } from "./Time";
import { Words } from "./Words";

const MODERATION_LINE = graphql(`
  fragment ModerationLine on ModerationAction {
    id
    kind
    at
    reason
    expiresAt
    subjectId
    group {
      id
      name
    }
    role
    ...Appealed
    reverts {
      id
      kind
      revertedBy {
        id
      }
    }
    revertedBy {
      id
    }
    about: subject {
      __typename
      id
      ... on Article {
        title
      }
      ... on Comment {
        article {
          id
          title
        }
      }
    }
  }
`);

/**
 * A line of the inbox: what a moderator did about the viewer or a text of the viewer, why, and a link to the text if it
 * is still there.
 */
export function ModerationLine({ action: fragment }: { action: FragmentType<typeof MODERATION_LINE> }) {
  const action = readFragment(MODERATION_LINE, fragment);
  const said = sentenceOf(action, useNow());
  const text = textOf(action.about);
  return (
    <article className="line" data-keyboard-item="" tabIndex={-1} aria-label={said}>
      <div className="details">
        <span>{said}</span> <Time at={action.at} />{" "}
        {text && (
          <span className="on">
            {text.isComment ? <Words id="on-title" link={<TextLink {...text} />} /> : <TextLink {...text} />}
          </span>
        )}
      </div>
      <Reason text={action.reason} />
      {mayAppeal(action) && <Appeal actionId={action.id} />}
    </article>
  );
}

function TextLink({ path, title }: { path: string; title: string }) {
  return (
    <Link href={path} aria-keyshortcuts="c">
      <bdi>{title}</bdi>
    </Link>
  );
}

/** The path of the text that an action is about, and the title of its article; null if there is none, or it is gone. */
function textOf(about: ModerationLineFragment["about"]) {
  if (about?.__typename === "Article") return { path: articlePath(about.id), title: about.title, isComment: false };
  if (about?.__typename !== "Comment") return null;
  const { id, title } = about.article;
  return { path: commentPath(id, about.id), title, isComment: true };
}
