"""
Mails: they wait in a queue of the store, and one of all processes sends them.

`running` does that as long as a server runs, `sender` takes one after the other, `letters` says what is in them, `smtp`
hands them to the mail server, and `unsubscribing` is the page that ends mails of replies. docs/mail.md says what users
and operators can rely on.
"""
