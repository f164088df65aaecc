import { ApolloClient, HttpLink, InMemoryCache } from "@apollo/client";
import { graphql } from "./gql";

const TOP = graphql(`query Top { articles(first: 25) { nodes { title votes } } }`);
const link = new HttpLink({ uri: "http://127.0.0.1:8000/graphql" });
const client = new ApolloClient({ link, cache: new InMemoryCache() });

client.query({ query: TOP }).then(({ data }) => {
  for (const { title, votes } of data?.articles?.nodes ?? []) console.log(votes, title);
});
