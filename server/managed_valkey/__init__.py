"""
The managed Valkey: the server of the store that this program runs itself, unless UPVOTE_REDIS_URL names another one.

`server` runs it, `supervisor` restarts it, `disk` guards what it writes, and `compaction` shortens that at the end.
"""
