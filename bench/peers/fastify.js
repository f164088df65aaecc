// mercurius (GraphQL for the web framework Fastify), operations compiled by graphql-jit from their first run.
import Fastify from "fastify";
import mercurius from "mercurius";
import { port, typeDefs } from "./config.js";
import { contextOf } from "./store.js";
import { serve } from "./workers.js";

export function serveMercurius(resolvers) {
  const app = Fastify();
  app.register(mercurius, {
    schema: typeDefs,
    resolvers,
    jit: 1,
    context: (request) => contextOf(request.headers.authorization),
  });
  serve(() => app.listen({ host: "127.0.0.1", port }));
}
