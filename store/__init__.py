"""What Redis holds and how it changes. Knows no GraphQL and no HTTP."""
