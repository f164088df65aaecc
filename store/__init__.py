"""
What Redis holds and how it changes: keys, records, commands, and one Lua script for each write. Independent of GraphQL
and HTTP.
"""
