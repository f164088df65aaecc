"""
How each field of the GraphQL schema gets its data, from the store, which is what Redis holds, and from the database.

Nothing here knows GraphQL types: resolvers take and return records, which are immutable Python objects.
"""
