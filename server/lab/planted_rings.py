"""
A site with planted rings, among circles of honest friends, on which the search for rings is measured: rings are
accounts that vote for each other far more often than chance explains.

The stories of a file give how often somebody posts and how many votes a story gets. Who votes is modelled: users differ
in how much they vote, and vote mostly in their own groups. Friends share a group, post, and vote for some of what each
other friend posts. Members of rings do the same, but vote for most of it, and for random stories as well. What they
post gets few votes of others: as many as a story of the half with the fewest votes. A stratum is a group in one period:
the search compares votes with those for other stories of the same stratum.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

import numpy as np

from server.rings.detection import VoteTable, find
from store.maintenance.import_stories import Story

SIZES = (5, 10, 20, 50)  # of rings and circles
OF_EACH_SIZE = 6  # rings
VOTERS = 5_000  # honest ones, of whom the friends are some
GROUPS = 20  # of the site, in one of which each user posts
IN_OWN_GROUPS = 0.7  # of the votes of honest users: the share that is cast in their own groups
LEAST_STORIES = 5_000  # a file with fewer is repeated, each time with other posters
MOST_VOTES = 200  # of a story
STORIES = 5  # that each friend and each member of a ring posts
OTHER_VOTES = 20  # of each member of a ring, for random stories
PERIOD = 28 * 86_400_000  # milliseconds of a period


@dataclass(frozen=True, slots=True)
class Planted:
    """
    How closely members of rings and friends hold together: for what share of the stories of another one each votes. For
    friends it is drawn for each pair of them, between two limits.
    """

    ring: float
    friends: tuple[float, float]


USUAL, CLOSE, CLOSEST = (0.05, 0.5), (0.2, 0.6), (0.4, 0.8)  # limits for friends
ALL_PLANTED = (
    *(Planted(ring, USUAL) for ring in (0.9, 0.8, 0.7, 0.6, 0.5, 0.3)),
    *(Planted(ring=0.8, friends=friends) for friends in (CLOSE, CLOSEST)),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """
    What was found on a site. `recall` is the share of the members of rings that was found, by the size of the ring;
    `found` is how many accounts were found in all, and `wrong` how many of them are in no ring.
    """

    planted: Planted
    votes: int
    recall: Mapping[int, float]
    found: int
    wrong: int

    @property
    def precision(self) -> float | None:
        """The share of the accounts found that are in a ring; None if none was found."""
        return 1 - self.wrong / self.found if self.found else None


def measure(stories: Sequence[Story], planted: Planted, seed: int) -> Measured:
    """Plant rings and circles of friends on a site with these stories, and search for the rings."""
    site = _Site(Random(f"{seed} {planted}"), stories)
    rings = _plant(site, planted)
    table = site.table()
    found = {site.users[member] for ring in find(table) for member in ring.members}
    recall = {size: len(names & found) / len(names) for size, names in rings.items()}
    wrong = found.difference(*rings.values())
    return Measured(planted, votes=len(table.voters), recall=recall, found=len(found), wrong=len(wrong))


@dataclass(slots=True)
class _Site:
    """Stories and votes as they are made, and the honest voters."""

    random: Random
    stories: Sequence[Story]
    users: list[str] = field(default_factory=list)
    votes: list[tuple[int, int, int, int]] = field(default_factory=list)  # voter, poster, stratum, story
    numbers: dict[str, int] = field(default_factory=dict)  # of users: indexes of `users`
    groups: dict[str, int] = field(default_factory=dict)  # the group in which each user posts
    posted: list[tuple[int, int]] = field(default_factory=list)  # poster and stratum of each story
    voters: "_Voters" = field(init=False)
    counts: list[int] = field(init=False)  # votes that stories get from others than their posters, ascending

    def __post_init__(self) -> None:
        self.voters = _Voters(self.random)
        self.counts = sorted(_votes_of(story) for story in self.stories)
        for turn in range(-(-LEAST_STORIES // len(self.stories))):  # rounded up
            for story in self.stories:
                poster = f"{story.poster}.{turn}" if turn else story.poster
                self.post(poster, story.time // PERIOD, _votes_of(story))

    def post(self, poster: str, period: int, votes: int) -> int:
        """Post a story that gets some votes of honest voters, and return its number."""
        group = self.groups.setdefault(poster, self.random.randrange(GROUPS))
        number = len(self.posted)
        self.posted.append((self._number(poster), period * GROUPS + group))
        for voter in self.voters.some(group, votes):
            self.vote(voter, number)
        return number

    def vote(self, voter: str, story: int) -> None:
        poster, stratum = self.posted[story]
        if (number := self._number(voter)) != poster:
            self.votes.append((number, poster, stratum, story))

    def table(self) -> VoteTable:
        """All votes; those of a voter for the same story count once."""
        columns = np.array(sorted(set(self.votes)), dtype=np.int64).T
        voters, posters, strata, texts = columns
        are_comments = np.zeros(len(texts), dtype=np.bool_)  # none
        return VoteTable(len(self.users), voters, posters, strata, texts, are_comments)

    def _number(self, user: str) -> int:
        if user not in self.numbers:
            self.numbers[user] = len(self.users)
            self.users.append(user)
        return self.numbers[user]


class _Voters:
    """Honest voters, in one to three groups each: the n-th most active votes n ** -0.7 times as much as the first."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.names = [f"voter-{number}" for number in range(VOTERS)]
        by_group: dict[int, list[tuple[str, float]]] = defaultdict(list)
        for rank, name in enumerate(self.names, 1):
            for group in random.sample(range(GROUPS), random.randint(1, 3)):
                by_group[group].append((name, rank**-0.7))
        # the number after that of the last group stands for all voters
        by_group[GROUPS] = [(name, rank**-0.7) for rank, name in enumerate(self.names, 1)]
        self.of_group = {group: [name for name, _ in members] for group, members in by_group.items()}
        self._sums = {group: list(accumulate(weight for _, weight in members)) for group, members in by_group.items()}

    def some(self, group: int, count: int) -> Iterator[str]:
        """Some voters for a story in a group, most of them of this group. One may be given twice."""
        for _ in range(count):
            chosen = group if self._random.random() < IN_OWN_GROUPS else GROUPS
            sums = self._sums[chosen]
            yield self.of_group[chosen][bisect(sums, self._random.random() * sums[-1])]


def _votes_of(story: Story) -> int:
    """The votes of others than the poster, whose own vote is counted in `story.votes`."""
    return min(story.votes, MOST_VOTES) - 1


def _plant(site: _Site, planted: Planted) -> dict[int, set[str]]:
    """Let circles of friends and rings of new accounts post and vote. Returns the members of rings, by size of ring."""
    random, file_stories = site.random, len(site.posted)  # no others are posted yet
    for size in SIZES * OF_EACH_SIZE:  # all sizes, again and again
        group = random.randrange(GROUPS)
        friends = random.sample(site.voters.of_group[group], size)
        site.groups.update(dict.fromkeys(friends, group))
        _vote_for_each_other(site, friends, lambda: random.uniform(*planted.friends), site.counts)
    members: dict[int, set[str]] = {size: set() for size in SIZES}
    for turn, size in enumerate(SIZES * OF_EACH_SIZE):
        ring = [f"ring-{turn}-{number}" for number in range(size)]
        members[size].update(ring)
        site.groups.update(dict.fromkeys(ring, random.randrange(GROUPS)))
        _vote_for_each_other(site, ring, lambda: planted.ring, site.counts[: len(site.counts) // 2])
        for member in ring:
            for _ in range(OTHER_VOTES):
                site.vote(member, random.randrange(file_stories))
    return members


def _vote_for_each_other(
    site: _Site, members: Sequence[str], share: Callable[[], float], vote_counts: Sequence[int]
) -> None:
    """
    Let each of a group post, within some weeks, and vote for a share of what each other one posts. `vote_counts` are
    numbers of votes: each story gets one of these numbers, at random, from honest voters.
    """
    random = site.random
    _, stratum = site.posted[random.randrange(len(site.posted))]
    begin = stratum // GROUPS  # the period of a random story
    for poster in members:
        voters = [(member, share()) for member in members if member != poster]
        for _ in range(STORIES):
            number = site.post(poster, begin + random.randrange(2), random.choice(vote_counts))
            for voter, probability in voters:
                if random.random() < probability:
                    site.vote(voter, number)
