import { Link } from "wouter";
import { commentPath } from "../addresses";
import { HeldEdit } from "../components/HeldEdit";
import { Markdown } from "../components/Markdown";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { usePageQuery } from "../frame";
import { graphql, type DocumentType } from "../gql";
import { Buttons } from "./Buttons";
import { Context, CONTEXT_SIZE } from "./Context";
import { Case } from "./Case";
import { CasePage, type ActionList } from "./CasePage";
import { useRenewalForModerators } from "./news";
import { State } from "./State";
import { subjectPath } from "./subjects";
import { t } from "../words";
import { Words } from "../components/Words";

// `author` is the `poster` of a comment, which may be null, as in QueueLine.tsx: there `poster` is that of an article.
const COMMENT_CASE = graphql(`
  query CommentCase($id: ID!, $size: Int!) {
    ...Frame # what the header shows
    comment(id: $id) {
      id
      content
      state
      postedAt
      heldBy
      heldReason
      heldEdit {
        ...HeldEditText
      }
      flagReasons
      flags {
        ...FlagLine
      }
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
      ...ContextComment
      ancestors {
        ...ContextComment
      }
      article {
        id
        title
        groups {
          id
          name
        }
        thread(under: $id, first: $size) {
          nodes {
            ...ContextComment
          }
        }
      }
    }
    moderationLog(subjectId: $id, first: 50) {
      nodes {
        id
        ...DeskAction
      }
    }
  }
`);

/** The page of moderators for one comment: it is shown between what it answers and what answers it. */
export function CommentCase({ id }: { id: string }) {
  const variables = { id, size: CONTEXT_SIZE };
  const [result, retry] = usePageQuery(COMMENT_CASE, variables);
  useRenewalForModerators(COMMENT_CASE, variables);
  const name = nameOf(result.data?.comment);
  return (
    <CasePage title={name} name={name} subjectOf={(data) => data.comment} {...{ result, retry }}>
      {(comment, actions) => <Loaded comment={comment} actions={actions} />}
    </CasePage>
  );
}

type Data = DocumentType<typeof COMMENT_CASE>;

interface LoadedProps {
  comment: NonNullable<Data["comment"]>;
  actions: ActionList;
}

function Loaded({ comment, actions }: LoadedProps) {
  const { id, content, heldBy, heldReason, heldEdit, state, postedAt } = comment;
  const { author, article, ancestors, flags, flagReasons } = comment;
  const groups = article.groups.map(({ name }) => name);
  const subject = { id, name: nameOf(comment), poster: author ?? null, groups };
  return (
    <Case
      subject={subject}
      flags={flags}
      reasons={flagReasons}
      actions={actions}
      context={<Context comments={[...ancestors, comment, ...article.thread.nodes]} current={id} />}
      poster={author}
    >
      <p className="details">
        {author && <UserLink username={author.username} />} <Time at={postedAt} />
        <span className="on">
          <Words
            id="on-title"
            link={
              <Link href={subjectPath(article.id)}>
                <bdi>{article.title}</bdi>
              </Link>
            }
          />
        </span>
        <Link href={commentPath(article.id, id)}>{t("its-page")}</Link>
      </p>
      <State isLocked={false} {...{ state, heldBy, heldReason }} />
      {content && <Markdown text={content} />}
      <HeldEdit edit={heldEdit} reason={heldReason} />
      <Buttons subject={subject} state={state} hasEdit={heldEdit != null} />
    </Case>
  );
}

const nameOf = (comment: { author?: { username: string } | null } | null | undefined): string =>
  comment?.author ? t("comment-by-title", { name: comment.author.username }) : t("comment");
