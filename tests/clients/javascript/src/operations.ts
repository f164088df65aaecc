// The operations of ./story. GraphQL Code Generator writes ./gql, with their types, from this file and the schema.
import { graphql } from "./gql";

export const REGISTER = graphql(`
  mutation Register($input: RegisterInput!) {
    register(input: $input) { token userErrors { code } }
  }
`);

export const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) { token user { id username } userErrors { code } }
  }
`);

export const POST = graphql(`
  mutation Post($input: PostInput!) {
    post(input: $input) { article { id } userErrors { code } }
  }
`);

export const PAGE = graphql(`
  query Page($group: String!, $after: String) {
    articles(group: $group, first: 2, after: $after) {
      totalCount
      pageInfo { startCursor endCursor hasPreviousPage hasNextPage }
      edges { cursor node { id title votes viewerVote poster { id username } } }
    }
  }
`);

export const VOTE = graphql(`
  mutation Vote($input: VoteInput!) {
    vote(input: $input) {
      changed
      article { id votes viewerVote }
      userErrors { __typename code ... on VotingClosed { closedAt } ... on RateLimited { retryAt } }
    }
  }
`);

export const COMMENT = graphql(`
  mutation Comment($input: CommentInput!) {
    comment(input: $input) {
      comment { id content votes parent { id } article { id commentCount } }
      userErrors { code field }
    }
  }
`);

export const DELETE = graphql(`
  mutation Delete($input: DeleteArticleInput!) {
    deleteArticle(input: $input) { deletedArticleId userErrors { __typename code field } }
  }
`);

export const ARTICLE_CHANGED = graphql(`
  subscription ArticleChanged($id: ID!) {
    articleChanged(id: $id) { id title votes }
  }
`);

export const RANKING_CHANGED = graphql(`
  subscription RankingChanged($group: String!) {
    rankingChanged(group: $group) { articles { id title } moves { articleId from to } }
  }
`);
