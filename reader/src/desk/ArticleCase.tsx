import { Link } from "wouter";
import { articlePath } from "../addresses";
import { ArticleTitle } from "../components/ArticleView";
import { GroupLink } from "../components/GroupLink";
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
import { t } from "../words";

const ARTICLE_CASE = graphql(`
  query ArticleCase($id: ID!, $size: Int!) {
    ...Frame # what the header shows
    article(id: $id) {
      id
      title
      link
      content
      state
      isLocked
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
      thread(order: NEWEST, first: $size) {
        nodes {
          ...ContextComment
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

/** The page of moderators for one article: its text and state, its flags, its history, and what they may do with it. */
export function ArticleCase({ id }: { id: string }) {
  const variables = { id, size: CONTEXT_SIZE };
  const [result, retry] = usePageQuery(ARTICLE_CASE, variables);
  useRenewalForModerators(ARTICLE_CASE, variables);
  const article = result.data?.article;
  return (
    <CasePage
      title={article ? <ArticleTitle article={article} /> : t("moderation")}
      name={article?.title ?? id}
      subjectOf={(data) => data.article}
      {...{ result, retry }}
    >
      {(found, actions) => <Loaded article={found} actions={actions} />}
    </CasePage>
  );
}

type Data = DocumentType<typeof ARTICLE_CASE>;

interface LoadedProps {
  article: NonNullable<Data["article"]>;
  actions: ActionList;
}

function Loaded({ article, actions }: LoadedProps) {
  const { id, title, content, heldBy, heldReason, heldEdit, state, isLocked, postedAt } = article;
  const { poster, groups, flags, flagReasons, thread } = article;
  const names = groups.map(({ name }) => name);
  const subject = { id, name: title, poster, groups: names };
  return (
    <Case
      subject={subject}
      flags={flags}
      reasons={flagReasons}
      actions={actions}
      context={<Context comments={thread.nodes} />}
      poster={poster}
    >
      <p className="details">
        <UserLink username={poster.username} /> <Time at={postedAt} />
        {groups.map((group) => (
          <GroupLink key={group.id} name={group.name} />
        ))}
        <Link href={articlePath(id)}>{t("its-page")}</Link>
      </p>
      <State {...{ state, isLocked, heldBy, heldReason }} />
      {content && <Markdown text={content} />}
      <HeldEdit edit={heldEdit} reason={heldReason} />
      <Buttons subject={subject} state={state} isLocked={isLocked} hasEdit={heldEdit != null} />
    </Case>
  );
}
