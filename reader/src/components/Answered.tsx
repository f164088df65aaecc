import { Link } from "wouter";
import { commentPath } from "../addresses";
import { t } from "../words";
import { PlainStart } from "./Markdown";

interface AnsweredProps {
  articleId: string;
  /** The comment that is answered; its content is null if it was deleted. */
  comment: { id: string; content?: string | null };
}

/** The beginning of the comment that another one answers, which leads to it. */
export function Answered({ articleId, comment: { id, content } }: AnsweredProps) {
  return (
    <blockquote className="answered" dir="auto">
      <Link href={commentPath(articleId, id)} title={t("what-it-answers")}>
        {content == null ? t("deleted") : <PlainStart text={content} />}
      </Link>
    </blockquote>
  );
}
