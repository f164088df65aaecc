"""
Neither an answer nor its time tells whether a name is that of a user: the work is the same. It is counted, because a
clock would be wrong on a busy machine.

The fixture `token` is a session token of the user vera. Codes such as U5 name rows of docs/behaviours.md.
"""

import pytest

from store import one_time_tokens, passwords
from store.one_time_tokens import Purpose
from store.store import Store

PASSWORD = "correct horse"
LOG_IN = """mutation($who: String!) { logIn(input: {username: $who, password: "wrong horse"}) {
  user { id } token userErrors { code message field } } }"""
FORGOT = """mutation($who: String!) { requestPasswordReset(input: {usernameOrEmail: $who}) {
  userErrors { code message field } } }"""
# vera has a password; ada has only an address, which is confirmed; left has deleted the account
NAMES = ("vera", "VERA", "ada", "nobody", "left")
OTHERS = ("a", "x" * 60, "no name", "ada@example.com", "nobody@example.com", "é")


class Counted:
    """
    Verifies and hashes passwords as `hasher` does. `parameters` has an item for each call: those of argon2, which
    decide how long it takes to verify, or "hash".
    """

    def __init__(self, hasher):
        self._hasher, self.parameters = hasher, []

    def verify(self, password, known):
        self.parameters.append(known.split("$")[:4])
        return self._hasher.verify(password, known)

    def hash(self, password):
        self.parameters.append("hash")
        return self._hasher.hash(password)


@pytest.fixture
async def store(redis_url, partitions, clock):
    store = await Store.open(redis_url, partitions=partitions, clock=clock, offers_mail=True)
    await store.users.create("ada")  # without a password
    await store.mailboxes.set_first("ada", "ada@example.com")
    issued = await one_time_tokens.issue(store.site, "ada", Purpose.CONFIRM, "ada@example.com")
    await store.mailboxes.confirm(issued.text)
    leaver = (await store.users.register("left", PASSWORD)).login.username
    await store.users.delete(leaver, PASSWORD, removes_texts=False)
    yield store
    await store.close()


@pytest.fixture
def hashed(monkeypatch):
    counted = Counted(passwords.HASHER)
    monkeypatch.setattr(passwords, "HASHER", counted)
    return counted.parameters


@pytest.mark.parametrize(
    ("document", "hashes", "asked"),
    [(LOG_IN, 1, NAMES), (FORGOT, 0, (*NAMES, *OTHERS))],
    ids=["logIn", "requestPasswordReset"],
)
async def test_work_is_the_same_whoever_is_asked_for(ask, token, hashed, document, hashes, asked):  # U5
    await ask(document, who="another")  # which loads the script
    seen = []
    for who in asked:
        hashed.clear()
        answer = await ask(document, who=who)
        seen.append((len(hashed), {str(each) for each in hashed}, str(answer)))

    assert all(each == seen[0] for each in seen), dict(zip(asked, seen, strict=True))
    assert seen[0][0] == hashes
