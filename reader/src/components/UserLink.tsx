import { Link } from "wouter";
import { DELETED_USER, userPath } from "../addresses";

/** A name that leads to the user's page, if there is one. */
export function UserLink({ username }: { username: string }) {
  if (username === DELETED_USER)
    return (
      <span className="user">
        <bdi>{username}</bdi>
      </span>
    );
  return (
    <Link href={userPath(username)} className="user">
      <bdi>{username}</bdi>
    </Link>
  );
}
