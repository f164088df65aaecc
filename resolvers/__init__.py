"""How a field gets its data. Uses the store and no GraphQL types: batches take and return records."""
