import { Link } from "wouter";
import { logInPath } from "../log-in";

/** What a page that belongs to a viewer shows to others. Logging in leads back to it. */
export function LogInFirst({ reason }: { reason: string }) {
  return (
    <div className="empty">
      <p>{reason}</p>
      <p>
        <Link href={logInPath()} className="button primary">
          Log in
        </Link>{" "}
        or <Link href={logInPath("/register")}>register</Link>
      </p>
    </div>
  );
}
