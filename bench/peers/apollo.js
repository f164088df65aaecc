// Apollo Server as its guide starts it.
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import { port, typeDefs } from "./config.js";
import { resolvers } from "./resolvers.js";
import { contextOf } from "./store.js";
import { serve } from "./workers.js";

serve(() =>
  startStandaloneServer(new ApolloServer({ typeDefs, resolvers }), {
    context: async ({ req }) => contextOf(req.headers.authorization),
    listen: { host: "127.0.0.1", port },
  }),
);
