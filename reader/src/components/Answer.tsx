import "./thread.css";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { commentPath } from "../addresses";
import { hasDraft } from "../drafts";
import { useSession } from "../session";
import { commentDraft, CommentForm } from "./CommentForm";

interface AnswerProps {
  articleId: string;
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
  const name = author ?? "this comment";

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
          aria-label={`Reply: comment by ${name}`}
          aria-keyshortcuts="r"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Reply
        </button>
        {posted && (
          <Link ref={link} href={commentPath(articleId, posted)}>
            Your reply
          </Link>
        )}
      </div>
      {isOpen && (
        <CommentForm
          {...{ draft, articleId }}
          parentId={id}
          label={`Reply to ${name}`}
          onPosted={done}
          onCancel={leave}
        />
      )}
    </>
  );
}
