"""What clients see: the GraphQL schema, whose types name their resolvers and read attributes off the records."""
