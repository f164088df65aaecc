import { Link } from "wouter";
import { CAN_REGISTER } from "../addresses";
import { logInPath } from "../log-in";
import { t } from "../words";
import { Words } from "./Words";

/** What a page that belongs to a viewer shows to others. Logging in leads back to it. */
export function LogInFirst({ reason }: { reason: string }) {
  return (
    <div className="empty">
      <p>{reason}</p>
      <p>
        <Link href={logInPath()} className="button primary">
          {t("log-in")}
        </Link>
        {CAN_REGISTER && (
          <>
            {" "}
            <Words id="log-in-or-register" link={(text) => <Link href={logInPath("/register")}>{text}</Link>} />
          </>
        )}
      </p>
    </div>
  );
}
