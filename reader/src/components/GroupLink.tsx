import { Link } from "wouter";
import { groupPath } from "../addresses";

export function GroupLink({ name }: { name: string }) {
  return (
    <Link href={groupPath(name)} className="group">
      <bdi>{name}</bdi>
    </Link>
  );
}
