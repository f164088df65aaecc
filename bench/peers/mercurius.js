// mercurius with the DataLoaders and resolvers that the peers in Node share.
import { serveMercurius } from "./fastify.js";
import { resolvers } from "./resolvers.js";

serveMercurius(resolvers);
