import { useState } from "react";
import { useClient } from "urql";
import { Link, useLocation, useParams } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { articlePath } from "../addresses";
import { ArticleForm, groupsOf, type ArticleText } from "../components/ArticleForm";
import { Content, Page } from "../components/Page";
import { useDraft } from "../drafts";
import { explain, REFUSED, type Refusal } from "../errors";
import { usePageQuery } from "../frame";
import { graphql, readFragment } from "../gql";
import type { EditPageQuery } from "../gql/graphql";
import { useWriter } from "../session";
import { say } from "../status";
import { isNumber } from "./ArticlePage";
import { NoPage, NotFound } from "./NotFound";
import { inputOf } from "./PostPage";
import { t } from "../words";
import { Words } from "../components/Words";

const EDIT_PAGE = graphql(`
  query EditPage($id: ID!) {
    ...Frame # what the header shows
    article(id: $id) {
      id
      title
      link
      content
      poster {
        id
        username
      }
      groups {
        id
        name
      }
    }
  }
`);

const EDIT = graphql(`
  mutation EditArticle($edit: EditArticleInput!, $regroup: RegroupArticleInput!) {
    editArticle(input: $edit) {
      article {
        id
        title
        link
        content
        editedAt
        heldEdit {
          ...HeldEditText
        }
      }
      heldBy
      userErrors {
        ...Refused
      }
    }
    regroupArticle(input: $regroup) {
      article {
        id
        groups {
          id
          name
        }
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** A form that edits one of the viewer's articles. */
export default function EditPage() {
  const { number = "" } = useParams();
  return isNumber(number) ? <Edit key={number} id={`article:${number}`} /> : <NoPage />;
}

function Edit({ id }: { id: string }) {
  const writer = useWriter(); // the viewer, also after the session has ended
  const [result, retry] = usePageQuery(EDIT_PAGE, { id });
  const article = result.data?.article;
  if (result.data && !result.fetching && !article) return <NotFound />;
  return (
    <Page title={t("edit-article-title")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {() =>
          article &&
          (writer === article.poster.username ? (
            <EditForm article={article} writer={writer} />
          ) : (
            <p>
              <Words id="only-poster-edits" link={(text) => <Link href={articlePath(id)}>{text}</Link>} />
            </p>
          ))
        }
      </Content>
    </Page>
  );
}

function EditForm({ article, writer }: { article: NonNullable<EditPageQuery["article"]>; writer: string }) {
  const client = useClient();
  const [, navigate] = useLocation();
  const from = useHistoryState<{ isFromArticle?: true } | null>();
  const draft = useDraft<ArticleText>(`${writer}:edit:${article.id}`, textOf(article));
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function save() {
    const { data, error } = await client.mutation(EDIT, changesOf(article, draft.value));
    const payloads = [data?.editArticle, data?.regroupArticle];
    const refused = payloads.flatMap((payload) => readFragment(REFUSED, payload?.userErrors) ?? []);
    setFault(error ? explain(error) : null);
    setRefusals(refused);
    if (error || refused.length > 0) return;
    leave();
    say(data?.editArticle?.heldBy ? t("edit-waits") : t("article-changed"));
  }

  function leave() {
    draft.clear();
    if (from?.isFromArticle) history.back();
    else navigate(articlePath(article.id), { replace: true });
  }

  return (
    <ArticleForm
      edited={article.id}
      {...{ draft, refusals, fault }}
      submit={t("save")}
      action={save}
      onCancel={leave}
    />
  );
}

type Editable = Pick<NonNullable<EditPageQuery["article"]>, "id" | "title" | "link" | "content" | "groups">;

/** The article as its form has it before anything is typed. */
function textOf({ title, link, content, groups }: Editable): ArticleText {
  return { title, link: link ?? "", content: content ?? "", groups: groups.map(({ name }) => name).join(" ") };
}

/** The variables of the mutation: what is typed, and the groups that it adds and removes. */
function changesOf({ id: articleId, groups }: Editable, text: ArticleText) {
  const [before, after] = [groups.map(({ name }) => name), groupsOf(text.groups)];
  const add = after.filter((name) => !before.includes(name));
  const remove = before.filter((name) => !after.includes(name));
  return { edit: { articleId, ...inputOf(text) }, regroup: { articleId, add, remove } };
}
