import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useClient } from "urql";
import { useDraft, type Draft } from "../drafts";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import { say } from "../status";
import { Field, Form } from "./Form";
import { Preview } from "./Preview";
import { t } from "../words";

const POST_COMMENT = graphql(`
  mutation PostComment($input: CommentInput!) {
    comment(input: $input) {
      comment {
        id
        article {
          id
          commentCount
        }
        ...PostedComment
      }
      heldBy
      userErrors {
        ...Refused
      }
    }
  }
`);

const EDIT_COMMENT = graphql(`
  mutation EditComment($input: EditCommentInput!) {
    editComment(input: $input) {
      comment {
        id
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
  }
`);

interface CommentFormProps {
  /** The name of the draft: see `commentDraft`. */
  draft: string;
  articleId: string;
  /** The comment that is answered; null for the article. */
  parentId: string | null;
  label: string;
  /** Gets the id of the new comment, which the cache has. */
  onPosted: (id: string) => void;
  onCancel?: () => void;
}

/** The draft of a user's answer to an article or a comment, or of an edit of a comment. */
export function commentDraft(username: string, doing: "answer" | "edit", id: string): string {
  return `${username}:${doing}:${id}`;
}

/** A form that answers an article or a comment. It posts once, however often it is sent. */
export function CommentForm({ draft: name, articleId, parentId, label, onPosted, onCancel }: CommentFormProps) {
  const client = useClient();
  const draft = useDraft(name, "");
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function post() {
    const input = { articleId, parentId, content: draft.value, idempotencyKey: draft.key() };
    const { data, error } = await client.mutation(POST_COMMENT, { input });
    setFault(error ? explain(error) : null);
    setRefusals(readFragment(REFUSED, data?.comment?.userErrors) ?? []);
    if (error || !data?.comment || data.comment.userErrors.length > 0) return;
    draft.clear();
    if (data.comment.heldBy) {
      // a rule of the site lets it wait for a moderator
      onCancel?.(); // closes the form
      say(t("comment-held"));
    } else if (data.comment.comment) onPosted(data.comment.comment.id);
    else say(t("comment-posted-before"));
  }

  return (
    <TextForm
      {...{ label, draft, refusals, fault, onCancel }}
      submit={t(parentId ? "reply" : "comment-verb")}
      action={post}
    />
  );
}

interface EditFormProps {
  /** The name of the draft: see `commentDraft`. */
  draft: string;
  comment: { id: string; content: string };
  /** Called when the text is saved, and when the form is cancelled. */
  onDone: () => void;
}

/** A form that replaces the text of a comment. */
export function EditCommentForm({ draft: name, comment, onDone }: EditFormProps) {
  const client = useClient();
  const draft = useDraft(name, comment.content);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function save() {
    const { data, error } = await client.mutation(EDIT_COMMENT, {
      input: { commentId: comment.id, content: draft.value },
    });
    setFault(error ? explain(error) : null);
    setRefusals(readFragment(REFUSED, data?.editComment?.userErrors) ?? []);
    if (error || data?.editComment?.userErrors.length !== 0) return;
    draft.clear();
    say(data.editComment.heldBy ? t("edit-waits") : t("comment-changed"));
    onDone();
  }

  return (
    <TextForm
      {...{ draft, refusals, fault }}
      onCancel={onDone}
      label={t("edit-comment")}
      submit={t("save")}
      action={save}
    />
  );
}

interface TextFormProps {
  label: string;
  /** The text of the button that sends it. */
  submit: string;
  draft: Draft<string>;
  /** Why the server refused the text; empty if it did not. `fault`: why the request failed, or null. */
  refusals: readonly Refusal[];
  fault: string | null;
  action: () => Promise<void>;
  onCancel?: (() => void) | undefined;
}

/** A form that can be cancelled gets the focus when it is opened. Any other is one line high until it has the focus. */
function TextForm({ label, submit, draft, refusals, fault, action, onCancel }: TextFormProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(onCancel !== undefined || draft.value !== "");
  useEffect(() => {
    const field = onCancel && box.current?.querySelector("textarea");
    if (!field) return;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }, []);

  function cancel() {
    draft.clear();
    onCancel?.();
  }

  function sendByKey(event: KeyboardEvent) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.current?.querySelector("form")?.requestSubmit();
    if (event.key === "Escape" && onCancel && draft.value === "") cancel();
  }

  return (
    <div className={isOpen ? "write" : "write closed"} ref={box} onKeyDown={sendByKey} onFocus={() => setOpen(true)}>
      <Form {...{ submit, action, refusals, ofField, fault }} onCancel={onCancel && cancel}>
        <Field
          name="content"
          label={label}
          hint={t("markdown-hint")}
          rows={isOpen ? 5 : 1}
          most={10_000}
          value={draft.value}
          onChange={(event) => draft.change(event.target.value)}
        />
        <Preview text={draft.value} />
      </Form>
    </div>
  );
}

/** Refusals of other fields, such as `parentId`, are about the whole form. */
function ofField(refusal: Refusal): Refusal {
  return refusal.field?.[1] === "content" ? refusal : { ...refusal, field: null };
}
