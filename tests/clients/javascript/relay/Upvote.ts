import { graphql } from "relay-runtime";

// For relay-compiler, which writes what `story.ts` imports. Nothing runs this file.

graphql`
  mutation UpvoteRegisterMutation($input: RegisterInput!) {
    register(input: $input) { token }
  }
`;

graphql`
  mutation UpvoteLogInMutation($input: LogInInput!) {
    logIn(input: $input) { token user { username } }
  }
`;

graphql`
  mutation UpvotePostMutation($input: PostInput!) {
    post(input: $input) { article { id } }
  }
`;

graphql`
  query UpvotePageQuery($group: String!, $after: String) {
    articles(group: $group, first: 2, after: $after) @connection(key: "Upvote_articles", filters: ["group"]) {
      totalCount
      edges { node { title votes } }
      pageInfo { endCursor }
    }
  }
`;

graphql`
  mutation UpvoteVoteMutation($input: VoteInput!) {
    vote(input: $input) {
      changed
      article { votes viewerVote }
      userErrors { __typename ... on VotingClosed { closedAt } ... on RateLimited { retryAt } ... on Refusal { code } }
    }
  }
`;

graphql`
  mutation UpvoteCommentMutation($input: CommentInput!) {
    comment(input: $input) {
      comment { id content votes parent { id } article { id commentCount } }
      userErrors { code field }
    }
  }
`;

graphql`
  mutation UpvoteDeleteMutation($input: DeleteArticleInput!) {
    deleteArticle(input: $input) { deletedArticleId @deleteRecord userErrors { code field } }
  }
`;

graphql`
  subscription UpvoteArticleSubscription($id: ID!) {
    articleChanged(id: $id) { title votes }
  }
`;

graphql`
  subscription UpvoteRankingSubscription($group: String!) {
    rankingChanged(group: $group) { articles { title } moves { from to } }
  }
`;
