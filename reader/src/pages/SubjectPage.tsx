import "./pages.css";
import "../desk/desk.css";
import { useParams } from "wouter";
import { ArticleCase } from "../desk/ArticleCase";
import { CommentCase } from "../desk/CommentCase";
import { kindOf } from "../desk/subjects";
import { UserCase } from "../desk/UserCase";
import { NoPage } from "./NotFound";

/** One article, comment or user with what moderators need to know of it, and what they may do. */
export default function SubjectPage() {
  const { id = "" } = useParams();
  switch (kindOf(id)) {
    case "article":
      return <ArticleCase key={id} id={id} />;
    case "comment":
      return <CommentCase key={id} id={id} />;
    case "user":
      return <UserCase key={id} username={id.slice("user:".length)} />;
    default:
      return <NoPage />;
  }
}
