"""
The managed Valkey: the server of the store that this program runs itself, unless UPVOTE_REDIS_URL names another one.

`server` runs it, and `supervisor` restarts it. `disk` refuses writes before the disk is full. `compaction` rewrites its
append-only file when it stops, so that the next start is faster.
"""
