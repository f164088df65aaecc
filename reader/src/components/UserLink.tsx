import { Link } from "wouter";
import { userPath } from "../addresses";

export function UserLink({ username }: { username: string }) {
  return (
    <Link href={userPath(username)} className="user">
      <bdi>{username}</bdi>
    </Link>
  );
}
