"""
Finds rings in a table of votes: accounts that vote for each other far more often than chance explains, and for most of
what the others post. docs/rings.md describes the method. Needs the extra `rings`, which has numpy.

1. Two users are a pair if each votes for `PAIR_COVERAGE` of what the other posts.
2. The densest parts of the graph of pairs are found by greedy peeling (Charikar, APPROX 2000).
3. Users who vote for less than `LEAST_COVERAGE` of what the others of their part post, such as friends, are removed.
4. Users who give the others no greater share of their votes than users outside do, in the same groups and periods, are
   removed, too. What is left is a ring if chance does not explain all its votes. This is the test of statistically
   validated networks (Tumminello, Miccichè, Lillo, Piilo and Mantegna, PLoS ONE 6(4): e17994, 2011), hypergeometric, of
   links from a user to other users. Its correction by Bonferroni counts one test for each set of as many users.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Graph = dict[int, set[int]]  # the neighbours of each user

SIGNIFICANCE = 0.01  # the largest allowed probability that chance alone makes any ring
LEAST_VOTES = 2  # of a pair, in each direction
LEAST_MEMBERS = 4  # of a ring
PAIR_COVERAGE = 0.3  # share: see 1 above
LEAST_COVERAGE = 0.5  # share: see 3 above
LEAST_RATIO = 1.5  # of the votes of members for each other to those that chance explains


@dataclass(frozen=True, slots=True)
class VoteTable:
    """
    Votes, each with the indexes of its voter and of the poster of what was voted for, of `users`. A stratum is what was
    posted in the same group and period. `texts` are the numbers of what was voted for.
    """

    users: int
    voters: Ints
    posters: Ints
    strata: Ints
    texts: Ints
    are_comments: Bools


@dataclass(frozen=True, slots=True)
class FoundRing:
    """
    `votes` were cast among the members, of which chance explains `expected`. `coverage` is the share of the texts of
    the others that the average member has voted for. It is of articles or of comments: of the kind that gives the ring
    more members.
    """

    members: tuple[int, ...]
    votes: int
    expected: float
    coverage: float


def find(table: VoteTable) -> list[FoundRing]:
    """All rings, the one with the most votes among its members first. The same table always gives the same rings."""
    if not len(table.voters):
        return []
    kinds = [_Kind.of(table, are_of_kind) for are_of_kind in (~table.are_comments, table.are_comments)]
    pairs = np.unique(np.concatenate([kind.pairs() for kind in kinds], axis=1), axis=1)
    paired = [kind.among(np.unique(pairs)) for kind in kinds]
    rings_of_parts = [[_ring(table, part, kind) for kind in paired] for part in _dense_parts(pairs)]
    found = [max((ring for ring in rings if ring), key=_size, default=None) for rings in rings_of_parts]
    return sorted((ring for ring in found if ring), key=lambda ring: (-ring.votes, ring.members))


def _size(ring: FoundRing) -> tuple[int, float]:
    """The sort key of a ring: its number of members, then its coverage."""
    return len(ring.members), ring.coverage


def _ring(table: VoteTable, members: Ints, kind: "_Kind") -> FoundRing | None:
    """The ring among some users: who votes for most of what the others post, if chance does not explain that."""
    while True:
        members, coverage = kind.members(members)
        if len(members) < LEAST_MEMBERS:
            return None
        cast, votes, expected = _votes_among(table, members)
        is_unexplained = _log_tail(cast, votes, expected) <= log(SIGNIFICANCE)
        if is_unexplained.all():
            break
        members = members[is_unexplained]
    (of_all,) = _log_tail(*(each.sum(keepdims=True) for each in (cast, votes, expected)))
    is_likely = of_all + _log_sets(table.users, len(members)) > log(SIGNIFICANCE)  # Bonferroni: see 4 above
    if is_likely or votes.sum() < LEAST_RATIO * expected.sum():
        return None
    return FoundRing(tuple(members.tolist()), int(votes.sum()), float(expected.sum()), coverage)


def _log_sets(users: int, size: int) -> float:
    """The logarithm of the number of sets of so many users."""
    return lgamma(users + 1) - lgamma(size + 1) - lgamma(users - size + 1)


def _votes_among(table: VoteTable, members: Ints) -> tuple[Ints, Ints, Floats]:
    """
    Three numbers for each member: the votes that they have cast, how many of these are for the other members, and how
    many would be expected to be. In each stratum, expected is the share that members get of the votes of this member
    and of all users who are not members.
    """
    place = np.full(table.users, -1)  # by user: the index in `members`, -1 for all others
    place[members] = np.arange(len(members))
    voters, are_for_members = place[table.voters], place[table.posters] >= 0
    strata, are_outside = int(table.strata.max()) + 1, voters < 0
    outside = np.bincount(table.strata[are_outside], minlength=strata)
    outside_for_members = np.bincount(table.strata[are_outside & are_for_members], minlength=strata)
    keys = voters[~are_outside] * strata + table.strata[~are_outside]  # of a member and a stratum, which make a cell
    cells, cast = _counted(keys)
    inner = _looked_up(*_counted(keys[are_for_members[~are_outside]]), cells)
    stratum, member = cells % strata, cells // strata
    expected = cast * (outside_for_members[stratum] + inner) / (outside[stratum] + cast)
    size = len(members)
    sums = [np.bincount(member, weights=each, minlength=size) for each in (cast, inner, expected)]
    return sums[0].astype(np.int64), sums[1].astype(np.int64), sums[2].astype(np.float64)


def _log_tail(cast: Ints, votes: Ints, expected: Floats) -> Floats:
    """
    A bound of the logarithm of the probability that `votes` or more of the votes `cast` are of some kind, when
    `expected` are: -n KL(k/n, m/n) with n = `cast`, k = `votes` and m = `expected`. It holds for hypergeometric
    variables and sums of them (Hoeffding, Journal of the American Statistical Association 58, 1963).
    """
    share, mean = votes / np.maximum(cast, 1), expected / np.maximum(cast, 1)
    is_above = (share > mean) & (mean > 0)
    share, mean = np.where(is_above, share, 0.5), np.where(is_above, mean, 0.5)  # 0.5: where it is not used
    rest = np.where(share < 1, (1 - share) * np.log(np.maximum(1 - share, 1e-300) / np.maximum(1 - mean, 1e-300)), 0.0)
    divergence: Floats = share * np.log(share / mean) + rest
    return np.where(is_above, -cast * divergence, 0.0)


@dataclass(frozen=True, slots=True)
class _Kind:
    """
    The votes for texts of one kind, articles or comments: who votes for how many of whom. Texts without votes
    do not count. At the same index of three arrays stand one of `voters`, one of `posters`, and how many votes
    (`counts`) the voter has cast for the poster.
    """

    voters: Ints
    posters: Ints
    counts: Ints
    posted: Ints  # how many texts each user has posted

    @classmethod
    def of(cls, table: VoteTable, are_of_kind: Bools) -> "_Kind":
        posters, texts = table.posters[are_of_kind], table.texts[are_of_kind]
        _, first = np.unique(texts, return_index=True)
        posted = np.bincount(posters[first], minlength=table.users).astype(np.int64)
        keys, counts = _counted(table.voters[are_of_kind] * table.users + posters)  # of a voter and a poster
        return cls(keys // table.users, keys % table.users, counts, posted)

    def pairs(self) -> Ints:
        """Two rows of users: those in the same column vote for `PAIR_COVERAGE` of what the other one posts."""
        is_much = (self.counts >= LEAST_VOTES) & (self.counts >= PAIR_COVERAGE * self.posted[self.posters])
        voters, posters = self.voters[is_much], self.posters[is_much]
        size = len(self.posted)
        # each pair once, if it is there the other way round, too
        is_mutual = (voters < posters) & np.isin(posters * size + voters, voters * size + posters)
        return np.stack([voters[is_mutual], posters[is_mutual]])

    def among(self, users: Ints) -> "_Kind":
        """Only the votes of some users for each other."""
        are_in = np.zeros(len(self.posted), dtype=np.bool_)
        are_in[users] = True
        chosen = are_in[self.voters] & are_in[self.posters]
        return _Kind(self.voters[chosen], self.posters[chosen], self.counts[chosen], self.posted)

    def members(self, users: Ints) -> tuple[Ints, float]:
        """
        Those of some users who each vote for `LEAST_COVERAGE` of what the others among them post, and the mean of their
        shares. They are found by removing, again and again, who votes for the smallest share.
        """
        votes = self.among(users)
        cast = np.bincount(votes.voters, votes.counts, minlength=len(self.posted))
        while len(users):
            shares = cast[users] / np.maximum(self.posted[users].sum() - self.posted[users], 1)
            least = users[int(np.argmin(shares))]
            if shares.min() >= LEAST_COVERAGE:
                return users, float(shares.mean())
            users = users[users != least]
            removed = votes.posters == least
            np.subtract.at(cast, votes.voters[removed], votes.counts[removed])
        return users, 0.0


def _dense_parts(pairs: Ints) -> Iterator[Ints]:
    """
    The densest part of the graph with these pairs, then the densest part of what is left, and so on. Each has at least
    `LEAST_MEMBERS`.
    """
    neighbours: Graph = {}
    for one, other in pairs.T.tolist():
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    waiting = list(_components(neighbours))
    while waiting:
        part = waiting.pop()
        dense = _densest(part) if len(part) >= LEAST_MEMBERS else set()
        if len(dense) >= LEAST_MEMBERS:
            yield np.array(sorted(dense), dtype=np.int64)
            left = part.keys() - dense
            waiting += _components({user: part[user] & left for user in left})


def _densest(neighbours: Graph) -> set[int]:
    """
    Of all parts that are left while the user with the fewest neighbours is removed, again and again, the one with the
    most pairs for each user.
    """
    left = {user: set(others) for user, others in neighbours.items()}
    pairs = sum(map(len, left.values())) // 2
    queue = [(len(others), user) for user, others in left.items()]
    heapify(queue)
    removed: list[int] = []
    best, best_removed = pairs / len(left), 0
    while len(left) > 1:
        degree, user = heappop(queue)
        if user not in left or degree != len(left[user]):  # an outdated entry of the queue
            continue
        for other in left.pop(user):
            left[other].discard(user)
            heappush(queue, (len(left[other]), other))
        pairs -= degree
        removed.append(user)
        if pairs / len(left) > best:
            best, best_removed = pairs / len(left), len(removed)
    return set(neighbours) - set(removed[:best_removed])


def _components(neighbours: Graph) -> Iterator[Graph]:
    """The connected parts of a graph."""
    unseen = set(neighbours)
    for start in sorted(neighbours):
        if start not in unseen:
            continue
        unseen.discard(start)
        part, waiting = {}, [start]
        while waiting:
            user = waiting.pop()
            part[user] = neighbours[user]
            new = part[user] & unseen
            unseen -= new
            waiting += new
        yield part


def _counted(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys, sorted, and how often each occurs."""
    found, counts = np.unique(keys, return_counts=True)
    return found, counts.astype(np.int64)


def _looked_up(keys: Ints, counts: Ints, wanted: Ints) -> Ints:
    """The counts of some keys, which are sorted; 0 of those that are absent."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, counts[place], 0)
