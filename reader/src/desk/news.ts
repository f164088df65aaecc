import { createRequest, type AnyVariables, type TypedDocumentNode } from "urql";
import { useRenewal } from "../changes";
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

const MOMENT = 100; // milliseconds without a change, after which queries are sent again

const renewals = new Map<number, () => unknown>(); // by the keys of their queries
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Sends a query again when anything that moderators see has changed: once for changes that follow each other at once,
 * and once for all components that show its answer, though each of them subscribes by itself.
 */
export function useRenewalForModerators<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): void {
  const roles = useRoles();
  const renew = useRenewal(query, variables);
  const { key } = createRequest(query, variables);

  function soon() {
    renewals.set(key, renew);
    clearTimeout(timer);
    timer = setTimeout(renewAll, MOMENT);
  }

  const followed = moderatesAnything(roles) ? {} : null;
  useLive(QUEUE_CHANGED, followed, { onData: soon, onGap: soon });
  useLive(MODERATION_NEWS, followed, { onData: soon, onGap: soon });
}

function renewAll(): void {
  const due = [...renewals.values()];
  renewals.clear();
  for (const renew of due) renew();
}
