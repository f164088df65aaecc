import { useClient, type TypedDocumentNode } from "urql";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";

// What moderators do: the mutations, and how they are sent.

const MODERATED = graphql(`
  fragment Moderated on ModerationPayload {
    changed
    action {
      id
      reverts {
        id
        revertedBy {
          id
        }
      }
      subject {
        __typename
        id
        ... on Article {
          title
          link
          content
          state
          isLocked
          groups {
            id
            name
          }
        }
        ... on Comment {
          content
          state
        }
        ... on Votable {
          heldEdit {
            ...HeldEditText
          }
        }
        ... on User {
          isBanned
          bannedUntil
        }
      }
    }
    userErrors {
      ...Refused
    }
  }
`);

export const APPROVE = graphql(`
  mutation Approve($input: ApproveContentInput!) {
    moderated: approveContent(input: $input) {
      ...Moderated
    }
  }
`);

export const REMOVE = graphql(`
  mutation Remove($input: RemoveContentInput!) {
    moderated: removeContent(input: $input) {
      ...Moderated
    }
  }
`);

export const REJECT_EDIT = graphql(`
  mutation RejectEdit($input: RejectEditInput!) {
    moderated: rejectEdit(input: $input) {
      ...Moderated
    }
  }
`);

export const LOCK = graphql(`
  mutation Lock($input: LockArticleInput!) {
    moderated: lockArticle(input: $input) {
      ...Moderated
    }
  }
`);

export const BAN = graphql(`
  mutation Ban($input: BanUserInput!) {
    moderated: banUser(input: $input) {
      ...Moderated
    }
  }
`);

export const ANNUL = graphql(`
  mutation Annul($input: AnnulVotesInput!) {
    moderated: annulVotes(input: $input) {
      ...Moderated
    }
  }
`);

export const REVERT = graphql(`
  mutation Revert($input: RevertModerationInput!) {
    moderated: revertModeration(input: $input) {
      ...Moderated
    }
  }
`);

const ANSWER = graphql(`
  mutation AnswerAppeal($input: AnswerAppealInput!) {
    answerAppeal(input: $input) {
      action {
        id
        ...DeskAction
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** What has become of a mutation. */
export interface Outcome {
  /** Whether it was carried out: the server has not refused it, and the request has not failed. */
  isDone: boolean;
  /** False if all was so before. */
  hasChanged: boolean;
  refusals: readonly Refusal[];
  /** Why the request failed, if it did. */
  fault: string | null;
}

type Command<Input> = TypedDocumentNode<{ moderated?: FragmentType<typeof MODERATED> | null }, { input: Input }>;

/** A function that sends what a moderator does. */
export function useSend(): <Input>(command: Command<Input>, input: Input) => Promise<Outcome> {
  const client = useClient();
  return async (command, input) => {
    const { data, error } = await client.mutation(command, { input });
    const payload = readFragment(MODERATED, data?.moderated);
    const refusals = readFragment(REFUSED, payload?.userErrors) ?? [];
    const isDone = !error && payload != null && refusals.length === 0;
    return { isDone, hasChanged: payload?.changed ?? false, refusals, fault: error ? explain(error) : null };
  };
}

/** A function that answers the appeal against an action. */
export function useAnswer(): (actionId: string, text: string) => Promise<Outcome> {
  const client = useClient();
  return async (actionId, text) => {
    const { data, error } = await client.mutation(ANSWER, { input: { actionId, text } });
    const refusals = readFragment(REFUSED, data?.answerAppeal?.userErrors) ?? [];
    const isDone = !error && data?.answerAppeal != null && refusals.length === 0;
    return { isDone, hasChanged: true, refusals, fault: error ? explain(error) : null };
  };
}
