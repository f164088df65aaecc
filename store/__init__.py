"""What Redis holds and how it changes. Independent of GraphQL and HTTP."""
