"""How a field gets its data. Knows the store and no GraphQL types: batches take records and give records."""
