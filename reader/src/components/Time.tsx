import { ago, fullTime, useNow } from "../times";

/** An instant as the time that has passed since. */
export function Time({ at }: { at: string }) {
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={fullTime(instant)}>
      {ago(instant, useNow())}
    </time>
  );
}
