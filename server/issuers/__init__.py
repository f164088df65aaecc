"""
Users of the site's own issuers: their tokens are accepted in place of sessions.

`file` reads who the issuers are, `keys` and `keyrings` have their keys, `tokens` checks what a token says, `accepting`
knows its user and remembers it, and `front_door` logs users in at an issuer.
"""
