import { useState } from "react";
import { AVATAR_HOSTS } from "../addresses";

interface AvatarProps {
  username: string;
  url: string | null;
}

const CELLS = [0, 1, 2, 3, 4] as const; // the rows, and the columns
const LAST = 4; // the index of the last column
const DRAWN = 3; // columns of a row that have bits of their own: the other two mirror the first two
const CELL_SIDE = "1.02"; // more than 1, so that no line is seen between two cells

/** The picture of a user: from a host that the site allows, else drawn from the name. */
export function Avatar({ username, url }: AvatarProps) {
  const [failed, setFailed] = useState<string | null>(null);
  if (url && url !== failed && isAllowed(url))
    return (
      <img
        className="avatar"
        src={url}
        alt=""
        width={48}
        height={48}
        referrerPolicy="no-referrer"
        onError={() => setFailed(url)}
      />
    );
  return <Drawn name={username.toLowerCase()} />;
}

/** Whether the browser may load a picture: the server names the same hosts in the policy of the page. */
export function isAllowed(url: string): boolean {
  return URL.canParse(url) && AVATAR_HOSTS.includes(new URL(url).host);
}

/** A symmetric pattern of five by five cells in one colour, both from a hash of the name, so that they never change. */
function Drawn({ name }: { name: string }) {
  const bits = hash(name);
  const isFilled = (row: number, column: number) =>
    ((bits >>> (row * DRAWN + Math.min(column, LAST - column))) & 1) === 1;
  return (
    <svg className="avatar" viewBox="-1 -1 7 7" width={48} height={48} aria-hidden="true">
      {CELLS.flatMap((row) =>
        CELLS.filter((column) => isFilled(row, column)).map((column) => (
          <rect
            key={`${row} ${column}`}
            x={column}
            y={row}
            width={CELL_SIDE}
            height={CELL_SIDE}
            fill={`hsl(${bits % 360} 45% 50%)`}
          />
        )),
      )}
    </svg>
  );
}

/** FNV-1a, of 32 bits. */
function hash(text: string): number {
  let found = 0x811c9dc5;
  for (const character of text) found = Math.imul(found ^ character.charCodeAt(0), 0x01000193) >>> 0;
  return found;
}
