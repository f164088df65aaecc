"""
Mails: they wait in the store, and one of all processes sends them.

`running` does that as long as a server runs, `sender` takes one after the other, `letters` says what is in them, and
`smtp` hands them to the mail server. docs/mail.md says what users and operators can rely on.
"""
