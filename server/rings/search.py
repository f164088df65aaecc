"""
Searches a database for rings: groups of accounts that vote for each other far more often than chance explains. Reads
the votes, finds the rings among them, and works out what annulling all votes of their members would move. Needs the
extra `rings`, which has numpy.

Memory is bounded: of articles and of comments, the newest `MOST_VOTES` votes each are read, at about 100 bytes.
"""

from array import array
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from database import rings
from database.database import Database
from database.rings import Ring, RingMove, Upvote
from server.rings.detection import FoundRing, Ints, VoteTable, find
from store.ranking.formulas import Policy

MOST_VOTES = 5_000_000  # that are read, the newest
MOST_RINGS = 100  # that are kept: those with the most votes
MOST_MOVES = 20  # of a ring, that are kept: the articles that change their place most without its votes
PERIOD = 28 * 86_400_000  # milliseconds: chance is computed for what was posted in one group and period, a stratum

OnRead = Callable[[int], object]  # is told how many votes were read


@dataclass(frozen=True, slots=True)
class RingSearch:
    """What was read, and what was found. `is_whole` says that all votes of the database were read."""

    votes: int
    users: int
    is_whole: bool
    rings: list[Ring]


async def search(database: Database, policy: Policy, now: int, on_read: OnRead) -> RingSearch:
    """Find all rings in a database. `now` is the time of the search (unix milliseconds). Nothing is written."""
    votes = _Votes()
    for votes_before, are_comments in ((rings.votes_on_articles, False), (rings.votes_on_comments, True)):
        begin, before = len(votes.texts), rings.NEWEST
        while batch := await database.run(votes_before, before):
            if len(votes.texts) - begin >= MOST_VOTES:
                votes.is_whole = False
                break
            votes.add(batch, are_comments)
            on_read(len(batch))
            before = batch[-1].number, batch[-1].voter
    names, table = votes.table()
    found = find(table)[:MOST_RINGS]
    ranking = await _Ranking.read(database, policy) if found else None
    results = []
    for number, ring in enumerate(found, 1):
        assert ranking
        members = sorted((names[member] for member in ring.members), key=lambda name: (name.lower(), name))
        results.append(await _with_consequences(database, ranking, now, number, ring, members))
    return RingSearch(len(table.voters), len(names), votes.is_whole, results)


@dataclass(slots=True)
class _Votes:
    """
    Votes as they are read, in arrays of numbers: at the same index of each the voter, the poster, the stratum (what was
    posted in the same group and period) and the number of the text, an article or a comment.
    """

    users: dict[str, int] = field(default_factory=dict)
    stratum_indexes: dict[tuple[str, int], int] = field(default_factory=dict)  # by group and number of the period
    voters: "array[int]" = field(default_factory=lambda: array("i"))
    posters: "array[int]" = field(default_factory=lambda: array("i"))
    strata: "array[int]" = field(default_factory=lambda: array("i"))
    texts: "array[int]" = field(default_factory=lambda: array("q"))
    comments: int = 0
    is_whole: bool = True

    def add(self, votes: Collection[Upvote], are_comments: bool) -> None:
        """Add some votes. Those on comments come last."""
        users, strata = self.users, self.stratum_indexes
        for number, voter, poster, posted_at, group in votes:
            self.voters.append(users.setdefault(voter, len(users)))
            self.posters.append(users.setdefault(poster, len(users)))
            self.strata.append(strata.setdefault((group, posted_at // PERIOD), len(strata)))
            self.texts.append(number)
        self.comments += len(votes) if are_comments else 0

    def table(self) -> tuple[list[str], VoteTable]:
        """
        The names of all users, sorted, and the votes, whose voters and posters are indexes of these names. So the order
        in which the database gives votes changes nothing.
        """
        names = sorted(self.users)
        place = np.empty(len(names), dtype=np.int64)
        place[[self.users[name] for name in names]] = np.arange(len(names))
        are_comments = np.arange(len(self.texts)) >= len(self.texts) - self.comments
        strata, texts = (np.array(each, dtype=np.int64) for each in (self.strata, self.texts))
        voters, posters = (place[np.array(each, dtype=np.int64)] for each in (self.voters, self.posters))
        return names, VoteTable(len(names), voters, posters, strata, texts, are_comments)


@dataclass(frozen=True, slots=True)
class _Ranking:
    """
    All visible articles: their numbers, ascending, and at the same index of each its score, which is the posting time
    plus `vote_score` for each vote, and its place by score, the highest first.
    """

    numbers: Ints
    scores: Ints
    places: Ints
    vote_score: int  # milliseconds

    @classmethod
    async def read(cls, database: Database, policy: Policy) -> "_Ranking":
        numbers, scores, after = array("q"), array("q"), 0
        vote_score = round(policy.vote_score * 1000)
        while batch := await database.run(rings.articles, after):
            numbers.extend(article.number for article in batch)
            scores.extend(article.posted_at + vote_score * article.votes for article in batch)
            after = batch[-1].number
        of_numbers, of_scores = (np.array(each, dtype=np.int64) for each in (numbers, scores))
        return cls(of_numbers, of_scores, _places(of_numbers, of_scores), vote_score)

    def moves(self, ring: int, lost: Mapping[int, int]) -> list[RingMove]:
        """
        The articles that change their place if some lose votes, the largest changes first. `lost` has how many votes
        each article loses, by its number; `ring` is the number of the ring.
        """
        wanted = np.array(sorted(lost), dtype=np.int64)
        index = np.searchsorted(self.numbers, wanted)
        index = index[np.isin(wanted, self.numbers)]  # without articles that are not visible
        scores = self.scores.copy()
        scores[index] -= (
            np.array([lost[int(number)] for number in self.numbers[index]], dtype=np.int64) * self.vote_score
        )
        places = _places(self.numbers, scores)
        moved = index[places[index] != self.places[index]]
        by_change = sorted(moved.tolist(), key=lambda i: (-abs(int(places[i] - self.places[i])), int(self.numbers[i])))
        return [
            RingMove(ring, article=number, votes=lost[number], place=int(self.places[i]), new_place=int(places[i]))
            for i, number in ((i, int(self.numbers[i])) for i in by_change)
        ]


def _places(numbers: Ints, scores: Ints) -> Ints:
    """The place of each article by its score; of equal ones the higher number is first."""
    places = np.empty(len(numbers), dtype=np.int64)
    places[np.lexsort((numbers, scores))[::-1]] = np.arange(1, len(numbers) + 1)
    return places


async def _with_consequences(
    database: Database, ranking: _Ranking, now: int, number: int, ring: FoundRing, members: list[str]
) -> Ring:
    """A ring with the names of its members: how many votes annulling would take, and which articles it would move."""
    lost: defaultdict[int, int] = defaultdict(int)
    article_votes = comment_votes = 0
    for member in members:
        async for vote in _cast_on_articles(database, member):
            lost[vote.number] += vote.value
            article_votes += 1
        comment_votes += await database.run(rings.count_on_comments, member)
    moves = ranking.moves(number, lost)
    return Ring(
        number=number,
        found_at=now,
        members=members,
        member_count=len(members),
        votes=ring.votes,
        expected=ring.expected,
        coverage=ring.coverage,
        article_votes=article_votes,
        comment_votes=comment_votes,
        moved=len(moves),
        moves=moves[:MOST_MOVES],
    )


async def _cast_on_articles(database: Database, voter: str) -> AsyncIterator[rings.CountedVote]:
    after = 0
    while batch := await database.run(rings.cast_on_articles, voter, after):
        for vote in batch:
            yield vote
        after = batch[-1].number
