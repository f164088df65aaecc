"""
Mails: they wait in a queue of the store, and one of all processes sends them.

`running` reads the queue as long as a server runs. `sender` sends the mails one after the other, `letters` composes
them, and `smtp` hands them to the mail server. `unsubscribing` is the page that ends mails of replies. docs/mail.md
says what users and operators can rely on.
"""
