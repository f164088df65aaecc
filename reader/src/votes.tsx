import { useContext } from "react";
import { useClient, type Client, type TypedDocumentNode } from "urql";
import { useLocation } from "wouter";
import { ExplainedCount } from "./components/ExplainedCount";
import { withSeparators } from "./counts";
import { reasonOf } from "./errors";
import { graphql } from "./gql";
import type { VoteMutation, VoteMutationVariables, VoteOnCommentMutation, VoteValue } from "./gql/graphql";
import { logInPath } from "./log-in";
import { RankingContext } from "./ranking";
import { useSession } from "./session";
import { say, sayProblem } from "./status";
import { t } from "./words";

const VOTE = graphql(`
  mutation Vote($id: ID!, $value: VoteValue!) {
    voted: vote(input: { articleId: $id, value: $value }) {
      changed
      article {
        id
        votes
        viewerVote
        isVotingOpen
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

const VOTE_ON_COMMENT = graphql(`
  mutation VoteOnComment($id: ID!, $value: VoteValue!) {
    voted: voteOnComment(input: { commentId: $id, value: $value }) {
      changed
      comment {
        id
        votes
        viewerVote
        isVotingOpen
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

type VoteDocument = TypedDocumentNode<VoteMutation | VoteOnCommentMutation, VoteMutationVariables>;

/** An article or a comment that is voted on. Fragments select these fields. */
export interface Subject {
  __typename?: "Article" | "Comment";
  id: string;
  votes: number;
  viewerVote?: VoteValue | null;
  isVotingOpen: boolean;
}

interface VoteButtonsProps {
  subject: Subject;
  /** What a screen reader calls it: the title of an article, or "comment by alice". */
  name: string;
  /** Why it takes no votes; by default the end of voting. */
  closed?: string | undefined;
}

/**
 * The votes of an article or a comment, between a button for an upvote and one for a downvote. In a ranking, the votes
 * of an article explain its rank.
 */
export function VoteButtons({ subject, name, closed = t("voting-closed") }: VoteButtonsProps) {
  const vote = useVote(subject, closed);
  const ranking = useContext(RankingContext);
  const ownVote = subject.viewerVote ?? "NONE";
  const button = (value: "UP" | "DOWN", label: string, shortcut: string) => (
    <button
      type="button"
      className={value === "UP" ? "up" : "down"}
      aria-pressed={ownVote === value}
      aria-label={t("named-action", { action: label, name })}
      aria-keyshortcuts={shortcut}
      title={subject.isVotingOpen ? label : closed}
      aria-disabled={!subject.isVotingOpen}
      onClick={({ detail }) => detail < 2 && vote(ownVote === value ? "NONE" : value)} // a double click votes once
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={value === "UP" ? "M8 3.5l6 8.5H2z" : "M8 12.5l6-8.5H2z"} />
      </svg>
    </button>
  );
  return (
    <div className="votes" data-vote={ownVote}>
      {button("UP", t("vote-up"), "u")}
      {ranking && subject.__typename === "Article" ? (
        <ExplainedCount id={subject.id} votes={subject.votes} ranking={ranking} />
      ) : (
        <span className="count" title={t("votes", { count: subject.votes })}>
          {withSeparators(subject.votes)}
        </span>
      )}
      {button("DOWN", t("vote-down"), "d")}
    </div>
  );
}

/** A function that sets the viewer's vote. It asks to log in if nobody is, and says why a vote did not count. */
function useVote(subject: Subject, closed: string): (value: VoteValue) => void {
  const client = useClient();
  const session = useSession();
  const [, navigate] = useLocation();
  return (value) => {
    if (!subject.isVotingOpen) {
      say(t("sentence", { text: closed }));
    } else if (session === null) {
      navigate(logInPath());
      say(t("log-in-to-vote"));
    } else {
      inOrder(subject.id, () => send(client, subject, value));
    }
  };
}

/** The cache shows the vote before the answer, and takes it back unless the server has counted it. */
async function send(client: Client, { __typename, id }: Subject, value: VoteValue): Promise<void> {
  const mutation: VoteDocument = __typename === "Comment" ? VOTE_ON_COMMENT : VOTE;
  const { data, error } = await client.mutation(mutation, { id, value });
  const reason = reasonOf(error, data?.voted?.userErrors);
  if (reason !== null) sayProblem(t("vote-not-counted", { reason }));
}

/** By the id of an article or a comment, the vote on it that was sent last, until it is answered. */
const lastVotes = new Map<string, Promise<void>>();

/** Resolves once all votes of the viewer on a subject have an answer. */
export const votesSent = (id: string): Promise<void> => lastVotes.get(id) ?? Promise.resolve();

/** Votes on one subject are sent one after the other, so that the last one is what counts. */
function inOrder(id: string, task: () => Promise<void>): void {
  const done = (lastVotes.get(id) ?? Promise.resolve()).then(task);
  lastVotes.set(id, done);
  void done.finally(() => lastVotes.get(id) === done && lastVotes.delete(id));
}
