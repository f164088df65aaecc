"""Votes and voters that a process has read, as parts of the tracking cache of a connection."""

import re
from collections.abc import Sequence
from typing import Any

from store import keys
from store.client import Command
from store.records import VOTES_BY_VALUE, Vote
from store.scripts.registry import VOTER_VOTES

MAX_CACHED_VOTERS = 200  # of an article: longer lists are not cached
ARTICLE_NUMBER = re.compile(r"[0-9]{1,16}")
VOTE_BYTES = 120  # of a vote, with the name of its voter
ARTICLE_BYTES = 350  # of an article, beside its votes or names
NAME_BYTES = 110
NO_VOTES: dict[str, Vote] = {}


class VoteCache:
    """Votes of single voters, from the replies of `voter_votes.lua`."""

    prefixes: tuple[str, ...] = keys.CACHED_VOTES

    def __init__(self) -> None:
        self.entries = self.bytes = 0
        self._votes: dict[int, dict[str, Vote]] = {}  # by article, by voter

    def find(self, numbers: Sequence[int], voter: str) -> list[Vote | None]:
        """A voter's votes on articles, None where nothing is cached."""
        votes_on = self._votes.get
        return [votes_on(number, NO_VOTES).get(voter) for number in numbers]

    def add(self, command: Command, reply: list[Any]) -> bool:
        if command[0] != "EVALSHA" or command[1] != VOTER_VOTES.digest:
            return False
        voter, *numbers = command[5:]
        for number, value in zip(numbers, reply, strict=True):
            votes = self._votes.setdefault(int(number), {})
            if not votes:
                self.bytes += ARTICLE_BYTES
            if voter not in votes:
                self.entries += 1
                self.bytes += VOTE_BYTES
            votes[str(voter)] = VOTES_BY_VALUE[value]
        return True

    def discard(self, key: str) -> None:
        votes = self._votes.pop(article_of(key), None)
        if votes:
            self.entries -= len(votes)
            self.bytes -= ARTICLE_BYTES + VOTE_BYTES * len(votes)

    def clear(self) -> None:
        self._votes.clear()
        self.entries = self.bytes = 0


class VoterCache:
    """All voters of articles that have few, from the replies of SUNION."""

    prefixes: tuple[str, ...] = keys.CACHED_VOTES

    def __init__(self) -> None:
        self.entries = self.bytes = 0
        self._voters: dict[int, list[str]] = {}  # by article

    def find(self, numbers: Sequence[int]) -> list[list[str] | None]:
        """The voters of articles, in any order, None where nothing is cached."""
        return list(map(self._voters.get, numbers))

    def add(self, command: Command, reply: list[Any]) -> bool:
        if command[0] != "SUNION" or not 0 < len(reply) <= MAX_CACHED_VOTERS:
            return False
        self.discard(str(command[1]))
        self._voters[article_of(str(command[1]))] = reply
        self.entries += len(reply)
        self.bytes += ARTICLE_BYTES + NAME_BYTES * len(reply)
        return True

    def discard(self, key: str) -> None:
        names = self._voters.pop(article_of(key), None)
        if names:
            self.entries -= len(names)
            self.bytes -= ARTICLE_BYTES + NAME_BYTES * len(names)

    def clear(self) -> None:
        self._voters.clear()
        self.entries = self.bytes = 0


def article_of(key: str) -> int:
    """The number of the article that a key is about; 0, which no article has, for keys of other programs."""
    number = key.rpartition(":")[2]
    return int(number) if ARTICLE_NUMBER.fullmatch(number) else 0
