"""
Issuers: services of the site's operator at which users log in, such as an OpenID Connect provider. An issuer signs
tokens that say who somebody is, and these are accepted in place of sessions.

`file` reads who the issuers are, `keys` and `keyrings` have their keys, `tokens` checks what a token says, `accepting`
finds and remembers its user, and `front_door` logs users in at an issuer.
"""
