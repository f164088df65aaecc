import { ago, fullTime, useNow } from "../times";

/** An instant in ISO 8601 as the time that has passed since, such as "3 hours ago". */
export function Time({ at }: { at: string }) {
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={fullTime(instant)}>
      {ago(instant, useNow())}
    </time>
  );
}
