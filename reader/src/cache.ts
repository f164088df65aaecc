import {
  cacheExchange,
  type Cache,
  type OptimisticMutationResolver,
  type UpdateResolver,
} from "@urql/exchange-graphcache";
import { gql, type Exchange } from "urql";
import type {
  DeleteArticleMutation,
  DeleteCommentMutation,
  FollowGroupInput,
  FollowUserInput,
  RankingSubscription,
  RankingSubscriptionVariables as Ranking,
  VoteValue,
} from "./gql/graphql";

// The cache keeps each object of the API once, by its type and id, so that all lists and pages show the same state.

/** What a vote of each value adds to the field `votes`. */
export const WORTH: Record<VoteValue, number> = { UP: 1, NONE: 0, DOWN: -1 };

/** Types without an id: the cache keeps their objects as parts of what they belong to. */
// prettier-ignore
const WITHOUT_ID = [
  "Account", "PageInfo", "RateLimit", "Session", "Flag", "RoleGrant", "Standing", "StandingTerm", "ChangedField",
  "RankingChange", "RankingMove", "ArticleConnection", "ArticleEdge", "CommentConnection", "CommentEdge",
  "GroupConnection", "GroupEdge", "HomeArticleConnection", "ModerationActionConnection", "ModerationActionEdge",
  "NotificationConnection", "NotificationEdge", "QueueConnection", "QueueEdge", "SearchConnection", "SearchEdge",
  "ThreadConnection", "ThreadEdge", "UserConnection", "UserEdge", "VotableConnection", "VotableEdge",
];

/** The types of each interface and union: without them the cache guesses what a fragment is for. */
const POSSIBLE_TYPES = {
  Node: ["Article", "Comment", "Feed", "Group", "Home", "Inbox", "ModerationAction", "Notification", "User"],
  SearchResult: ["Article", "Comment", "User"],
  UserError: ["Banned", "RateLimited", "Refusal", "VotingClosed"],
  Votable: ["Article", "Comment"],
};

const UNSEEN = gql("fragment Unseen on Inbox { id unseenCount }");
const DELETED = gql("fragment Deleted on Comment { id state content poster { id } }");

/** The normalised cache. It shows votes and follows at once, and takes them back if the server refuses or cannot be reached. */
export function cache(): Exchange {
  return cacheExchange({
    keys: Object.fromEntries(WITHOUT_ID.map((name) => [name, () => null])),
    possibleTypes: POSSIBLE_TYPES,
    optimistic: {
      vote: expectedVote,
      voteOnComment: expectedVoteOnComment,
      followUser: expectedFollow(true),
      unfollowUser: expectedFollow(false),
      followGroup: expectedGroupFollow(true),
      unfollowGroup: expectedGroupFollow(false),
    },
    resolvers: { Query: { node: (_, { id }) => objectOf(String(id)) } },
    updates: {
      Mutation: {
        deleteArticle: ({ deleteArticle }: DeleteArticleMutation, _, cache) =>
          dropArticle(cache, deleteArticle?.deletedArticleId),
        deleteComment: ({ deleteComment }: DeleteCommentMutation, _, cache) =>
          emptyComment(cache, deleteComment?.deletedCommentId),
        followUser: forgetFollowers,
        unfollowUser: forgetFollowers,
        blockUser: forgetFollowers,
      },
      Subscription: {
        notification: (_, __, cache) => addUnseen(cache),
        rankingChanged: ({ rankingChanged }: RankingSubscription, ranking: Ranking, cache) =>
          reorder(cache, ranking, rankingChanged.articles),
      },
    },
  });
}

type VoteArguments<Subject> = { input: Subject & { value: VoteValue } };

const expectedVote: OptimisticMutationResolver<VoteArguments<{ articleId: string }>> = ({ input }, cache) => ({
  __typename: "VotePayload",
  changed: true,
  article: expected(cache, "Article", input.articleId, input.value),
  userErrors: [],
});

const expectedVoteOnComment: OptimisticMutationResolver<VoteArguments<{ commentId: string }>> = ({ input }, cache) => ({
  __typename: "VoteOnCommentPayload",
  changed: true,
  comment: expected(cache, "Comment", input.commentId, input.value),
  userErrors: [],
});

/** An article or a comment as it is once the vote is counted. */
function expected(cache: Cache, __typename: "Article" | "Comment", id: string, value: VoteValue) {
  const subject = { __typename, id };
  const votes = Number(cache.resolve(subject, "votes"));
  const before = (cache.resolve(subject, "viewerVote") as VoteValue | null) ?? "NONE";
  return { __typename, id, votes: votes + WORTH[value] - WORTH[before], viewerVote: value };
}

/** The user as they are once the follow, or its end, counts. `followers(first: 1)` is what a user's page asks for. */
function expectedFollow(viewerIsFollowing: boolean): OptimisticMutationResolver<{ input: FollowUserInput }> {
  return ({ input: { userId: id } }, cache) => {
    const followers = cache.resolve({ __typename: "User", id }, "followers", { first: 1 });
    const before = Number(cache.resolve(followers as string, "totalCount"));
    const totalCount = before + (viewerIsFollowing ? 1 : -1);
    const user = { __typename: "User", id, viewerIsFollowing, followers: { __typename: "UserConnection", totalCount } };
    return { __typename: "FollowUserPayload", changed: true, user, userErrors: [] };
  };
}

function expectedGroupFollow(viewerIsFollowing: boolean): OptimisticMutationResolver<{ input: FollowGroupInput }> {
  return ({ input }, cache) => {
    const group = { __typename: "Group", id: `group:${input.group}` };
    const followerCount = Number(cache.resolve(group, "followerCount")) + (viewerIsFollowing ? 1 : -1);
    return {
      __typename: "FollowGroupPayload",
      changed: true,
      group: { ...group, viewerIsFollowing, followerCount },
      userErrors: [],
    };
  };
}

/** Drops lists of followers, so that a shown one is read again. `first: 1` is only the count. */
const forgetFollowers: UpdateResolver<unknown, { input: FollowUserInput }> = (_, { input }, cache, { optimistic }) => {
  if (optimistic) return;
  const user = { __typename: "User", id: input.userId };
  for (const { fieldName, arguments: given } of cache.inspectFields(user)) {
    if (fieldName === "followers" && given?.first !== 1) cache.invalidate(user, fieldName, given);
  }
};

/** Counts a notification that arrives: the header shows how many are not seen. */
function addUnseen(cache: Cache): void {
  const inbox = cache.resolve("Query", "inbox"); // the key of an object in the cache, here and below
  if (typeof inbox !== "string") return;
  const unseenCount = cache.resolve(inbox, "unseenCount");
  const id = cache.resolve(inbox, "id");
  if (typeof unseenCount === "number") cache.writeFragment(UNSEEN, { id, unseenCount: unseenCount + 1 });
}

/** Puts the articles that a ranking has now, in their order, into its first page in the cache. */
function reorder(cache: Cache, { order, group, first }: Ranking, articles: readonly { id: string }[]): void {
  const listing = group ? cache.resolve("Query", "group", { name: group }) : "Query";
  if (typeof listing !== "string") return;
  const keys = articles.map(({ id }) => cache.keyOfEntity({ __typename: "Article", id }));
  for (const { fieldKey, arguments: given } of cache.inspectFields(listing)) {
    if (!fieldKey.startsWith("articles(") || given?.order !== order || given.page !== 1 || given.first !== first)
      continue;
    const connection = cache.resolve(listing, fieldKey);
    if (typeof connection === "string") cache.link(connection, "nodes", keys);
  }
}

/** Drops a deleted article: lists that have it are read again. */
function dropArticle(cache: Cache, id: string | null | undefined): void {
  if (id) cache.invalidate({ __typename: "Article", id });
}

/** Empties a deleted comment, which stays in its thread while it has replies. */
function emptyComment(cache: Cache, id: string | null | undefined): void {
  if (id) cache.writeFragment(DELETED, { id, state: "DELETED", content: null, poster: null });
}

/** The object that `node(id: ...)` asks for, which other queries may have read. Its id is such as `article:12`. */
function objectOf(id: string): { __typename: string; id: string } {
  const type = id.slice(0, id.indexOf(":"));
  return { __typename: type === "action" ? "ModerationAction" : type.charAt(0).toUpperCase() + type.slice(1), id };
}
