"""
Webhooks: requests to receivers outside that say what has changed, signed by Standard Webhooks 1.0.

`spooler` takes changes from the log into the database, `sender` sends them from there, `running` does both in one of
all processes. docs/webhooks.md says what receivers can rely on.
"""
