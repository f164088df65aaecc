import { graphql } from "./gql";

export const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) { token userErrors { message } }
  }
`);

export const LOG_OUT = graphql(`mutation LogOut { logOut { userErrors { message } } }`);

export const VIEWER = graphql(`query Viewer { viewer { id username } }`);

export const PAGE = graphql(`
  query Page($after: String) {
    articles(order: TIME, first: 2, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges { node { id title votes viewerVote isVotingOpen } }
    }
  }
`);

export const POST = graphql(`
  mutation Post($input: PostInput!) {
    post(input: $input) { article { id } userErrors { code field message } }
  }
`);

export const VOTE = graphql(`
  mutation Vote($input: VoteInput!) {
    vote(input: $input) {
      changed
      article { __typename id votes viewerVote }
      userErrors { code message }
    }
  }
`);

export const RANKING = graphql(`
  subscription Ranking { rankingChanged(order: TIME) { articles { id title votes } } }
`);
