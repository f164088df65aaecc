import { useState } from "react";
import { useClient } from "urql";
import { useLocation, useSearch } from "wouter";
import { articlePath } from "../addresses";
import { ArticleForm, groupsOf, type ArticleText } from "../components/ArticleForm";
import { LogInFirst } from "../components/LogInFirst";
import { Page } from "../components/Page";
import { useDraft } from "../drafts";
import { explain, REFUSED, type Refusal } from "../errors";
import { usePageQuery } from "../frame";
import { graphql, readFragment } from "../gql";
import { useWriter } from "../session";
import { say } from "../status";
import { t } from "../words";

const POST_PAGE = graphql(`
  query PostPage {
    ...Frame # what the header shows
  }
`);

const POST = graphql(`
  mutation Post($input: PostInput!) {
    post(input: $input) {
      article {
        id
      }
      duplicateOf {
        id
        title
      }
      heldBy
      userErrors {
        ...Refused
      }
    }
  }
`);

/**
 * A form that posts an article. `title`, `link` and `group` of the address fill it, as a bookmark may do. Each address has
 * a draft of its own.
 */
export default function PostPage() {
  const writer = useWriter(); // the viewer, also after the session has ended
  const search = useSearch();
  usePageQuery(POST_PAGE, {});
  return (
    <Page title={t("post-title")}>
      {writer === null ? (
        <LogInFirst reason={t("members-post")} />
      ) : (
        <PostForm key={`${writer} ${search}`} writer={writer} search={search} />
      )}
    </Page>
  );
}

function PostForm({ writer, search }: { writer: string; search: string }) {
  const client = useClient();
  const [, navigate] = useLocation();
  const parameters = new URLSearchParams(search);
  const given = (name: string) => parameters.get(name) ?? "";
  const draft = useDraft<ArticleText>(`${writer}:article${search && `?${search}`}`, {
    title: given("title"),
    link: given("link"),
    content: "",
    groups: given("group"),
  });
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function post() {
    const input = { ...inputOf(draft.value), groups: groupsOf(draft.value.groups), idempotencyKey: draft.key() };
    const { data, error } = await client.mutation(POST, { input });
    setFault(error ? explain(error) : null);
    setRefusals(readFragment(REFUSED, data?.post?.userErrors) ?? []);
    if (error || !data?.post || data.post.userErrors.length > 0) return;
    draft.clear();
    const { article, duplicateOf, heldBy } = data.post;
    if (!article) return say(t("article-posted-before"));
    navigate(articlePath(article.id), { state: { duplicateOf } }); // its page names the older one
    say(heldBy ? t("article-held") : t("article-posted")); // `heldBy`: a rule of the site lets it wait for a moderator
  }

  return <ArticleForm {...{ draft, refusals, fault }} submit={t("post")} action={post} />;
}

/** What was typed as the input of a mutation: null for an empty link or text. */
export function inputOf({ title, link, content }: ArticleText) {
  return { title, link: link.trim() || null, content: content.trim() ? content : null };
}
