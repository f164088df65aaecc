// mercurius with the loaders and resolvers of all peers.
import { serveMercurius } from "./fastify.js";
import { resolvers } from "./resolvers.js";

serveMercurius(resolvers);
