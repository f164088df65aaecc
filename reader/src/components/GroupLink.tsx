import { Link } from "wouter";
import { groupPath } from "../addresses";

/** The name of a group, which leads to its page. */
export function GroupLink({ name }: { name: string }) {
  return (
    <Link href={groupPath(name)} className="group">
      <bdi>{name}</bdi>
    </Link>
  );
}
