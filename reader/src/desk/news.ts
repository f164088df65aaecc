import { useEffect, useRef } from "react";
import { graphql } from "../gql";
import { useLive } from "../live";
import { moderatesAnything, useRoles } from "../roles";

// News for the desk, the pages of moderators: what other moderators do, and what users flag, as it happens.

const QUEUE_CHANGED = graphql(`
  subscription QueueChanged {
    moderationQueueChanged
  }
`);

const MODERATION_NEWS = graphql(`
  subscription ModerationNews {
    moderated {
      id
      subjectId
    }
  }
`);

const MOMENT = 100; // milliseconds without a change

/** Calls `renew` after anything that moderators see has changed, once for changes that follow each other at once. */
export function useDeskNews(renew: () => unknown): void {
  const roles = useRoles();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(renew);
  useEffect(() => void (latest.current = renew));
  useEffect(() => () => clearTimeout(timer.current), []);

  function soon() {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(), MOMENT);
  }

  const variables = moderatesAnything(roles) ? {} : null;
  useLive(QUEUE_CHANGED, variables, { onData: soon, onGap: soon });
  useLive(MODERATION_NEWS, variables, { onData: soon, onGap: soon });
}
