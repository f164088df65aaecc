import "./thread.css";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { commentPath } from "../addresses";
import { hasDraft } from "../drafts";
import { useSession } from "../session";
import { commentDraft, CommentForm } from "./CommentForm";
import { t } from "../words";

interface AnswerProps {
  articleId: string;
  /** The comment that is answered; its author is null if the server does not tell who it is. */
  comment: { id: string; author: string | null };
  /** Called when the answer is posted. */
  onPosted: () => void;
}

/** A button to answer a comment where it is listed, without its thread; then the form, and a link to what was posted. */
export function Answer({ articleId, comment: { id, author }, onPosted }: AnswerProps) {
  const username = useSession()?.username ?? "";
  const draft = commentDraft(username, "answer", id);
  const button = useRef<HTMLButtonElement>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const [isOpen, setOpen] = useState(() => hasDraft(draft));
  const [posted, setPosted] = useState<string | null>(null);
  useEffect(() => link.current?.focus(), [posted]);

  function leave() {
    setOpen(false);
    button.current?.focus();
  }

  function done(id: string) {
    setOpen(false);
    setPosted(id);
    onPosted();
  }

  return (
    <>
      <div className="actions">
        <button
          ref={button}
          type="button"
          className="action"
          aria-label={t("named-action", { action: t("reply"), name: t("comment-by", { name: author ?? t("nobody") }) })}
          aria-keyshortcuts="r"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t("reply")}
        </button>
        {posted && (
          <Link ref={link} href={commentPath(articleId, posted)}>
            {t("your-reply")}
          </Link>
        )}
      </div>
      {isOpen && (
        <CommentForm
          {...{ draft, articleId }}
          parentId={id}
          label={author ? t("reply-to", { name: author }) : t("reply-to-comment")}
          onPosted={done}
          onCancel={leave}
        />
      )}
    </>
  );
}
