import { Link } from "wouter";
import { CAN_REGISTER } from "../addresses";
import { logInPath } from "../log-in";

/** What a page that belongs to a viewer shows to others. Logging in leads back to it. */
export function LogInFirst({ reason }: { reason: string }) {
  return (
    <div className="empty">
      <p>{reason}</p>
      <p>
        <Link href={logInPath()} className="button primary">
          Log in
        </Link>
        {CAN_REGISTER && (
          <>
            {" "}
            or <Link href={logInPath("/register")}>register</Link>
          </>
        )}
      </p>
    </div>
  );
}
