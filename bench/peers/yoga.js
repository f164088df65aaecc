// graphql-yoga on Node's own HTTP server.
import { createServer } from "node:http";
import { createSchema, createYoga } from "graphql-yoga";
import { port, typeDefs } from "./config.js";
import { resolvers } from "./resolvers.js";
import { contextOf } from "./store.js";
import { serve } from "./workers.js";

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  context: ({ request }) => contextOf(request.headers.get("authorization")),
  graphiql: false,
});

serve(() => createServer(yoga).listen(port, "127.0.0.1"));
