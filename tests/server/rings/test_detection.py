"""
What the search for voting rings finds among votes: accounts that vote for each other far more often than chance
explains. And what it does not take for a ring.
"""

from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest

from server.rings import detection
from server.rings.detection import FoundRing, VoteTable, find

USERS, HONEST_STORIES, GROUPS = 200, 400, 4
# voter, poster, stratum (what was posted in the same group and period), text, whether that is a comment
Votes = set[tuple[int, int, int, int, bool]]


def honest(random: Random) -> Votes:
    """Ten votes for each story of users 0 to 199, by users who vote more the lower their index is."""
    votes: Votes = set()
    for text in range(HONEST_STORIES):
        poster = random.randrange(USERS)
        for _ in range(10):
            voter = int(USERS * random.random() ** 2)
            votes |= {(voter, poster, poster % GROUPS, text, False)} if voter != poster else set()
    return votes


def mutual(random: Random, people: range, share: Callable[[], float], *, are_comments: bool = False) -> Iterator[tuple]:
    """Votes of people for five texts of each other; `share` gives the probability of each vote."""
    for poster in people:
        for number in range(5):
            text = 1_000 + poster * 5 + number
            for voter in people:
                if voter != poster and random.random() < share():
                    yield voter, poster, people[0] % GROUPS, text, are_comments


def outward(random: Random, people: range, count: int = 10) -> Iterator[tuple]:
    """Votes of people for `count` more stories of honest users each."""
    for voter in people:
        for text in random.sample(range(HONEST_STORIES), count):
            yield voter, text % USERS, text % GROUPS, 100_000 + text, False


def table(votes: Votes, users: int = USERS + 100) -> VoteTable:
    voters, posters, strata, texts, are_comments = np.array(sorted(votes), dtype=np.int64).T
    return VoteTable(users, voters, posters, strata, texts, are_comments.astype(np.bool_))


@pytest.mark.parametrize("are_comments", [False, True], ids=["articles", "comments"])
@pytest.mark.parametrize("size", [5, 10, 20, 50])
def test_ring_is_found_with_its_numbers(size, are_comments):
    random, members = Random(size), range(USERS, USERS + size)
    inner = set(mutual(random, members, lambda: 0.9, are_comments=are_comments))
    votes = table(honest(random) | inner | set(outward(random, members)))

    (ring,) = find(votes)

    assert ring.members == tuple(members)
    assert ring.votes == len(inner) and ring.expected < ring.votes / 4
    assert ring.coverage == pytest.approx(len(inner) / (size * (size - 1) * 5))


def test_two_rings_are_told_apart_and_the_larger_is_first():
    random, first, second = Random(1), range(USERS, USERS + 10), range(USERS + 10, USERS + 30)
    votes = honest(random) | set(mutual(random, first, lambda: 0.9)) | set(mutual(random, second, lambda: 0.9))

    assert [ring.members for ring in find(table(votes))] == [tuple(second), tuple(first)]


def test_votes_of_honest_users_are_no_ring():
    assert find(table(honest(Random(2)))) == []


def test_friends_who_vote_for_a_third_of_what_each_other_posts_are_no_ring():
    random, friends = Random(3), range(20)

    assert find(table(honest(random) | set(mutual(random, friends, lambda: random.uniform(0.05, 0.5))))) == []


def test_site_on_which_all_vote_for_each_other_has_no_ring():
    random = Random(4)

    assert find(table(set(mutual(random, range(30), lambda: 0.9)), users=30)) == []


def test_group_in_which_all_vote_for_each_other_has_no_ring_if_others_do_so_there_too():
    """Its members vote as those who come from outside: for most of what is posted in the group."""
    random, members = Random(5), range(USERS, USERS + 20)
    inner = set(mutual(random, members, lambda: 0.8))
    texts = {(poster, stratum, text) for _, poster, stratum, text, _ in inner}
    guests = {
        (voter, *text, False)
        for voter in range(USERS + 20, USERS + 80)
        for text in sorted(texts)
        if random.random() < 0.8
    }

    assert find(table(honest(random) | inner | guests)) == []


def test_member_who_votes_for_little_is_left_out():
    random, members = Random(6), range(USERS, USERS + 10)
    inner = {vote for vote in mutual(random, members, lambda: 0.9) if vote[0] != USERS or random.random() < 0.2}

    (ring,) = find(table(honest(random) | inner))

    assert ring.members == tuple(members)[1:]


def test_accounts_that_vote_for_one_of_them_only_are_no_ring():
    random, members = Random(7), range(USERS, USERS + 20)
    inner = {vote for vote in mutual(random, members, lambda: 1) if vote[1] == USERS}

    assert find(table(honest(random) | inner)) == []


def test_no_votes_have_no_rings():
    nothing = np.zeros(0, dtype=np.int64)
    no_votes = VoteTable(
        users=0, voters=nothing, posters=nothing, strata=nothing, texts=nothing, are_comments=nothing.astype(np.bool_)
    )

    assert find(no_votes) == []


def test_order_of_the_votes_does_not_matter():
    random, members = Random(8), range(USERS, USERS + 10)
    votes = table(honest(random) | set(mutual(random, members, lambda: 0.8)))
    order = np.random.default_rng(1).permutation(len(votes.voters))
    columns = (votes.voters, votes.posters, votes.strata, votes.texts, votes.are_comments)
    shuffled = VoteTable(votes.users, *(column[order] for column in columns))

    found: list[FoundRing] = find(shuffled)

    assert [(ring.members, ring.votes) for ring in found] == [(ring.members, ring.votes) for ring in find(votes)]
    assert [ring.expected for ring in found] == pytest.approx([ring.expected for ring in find(votes)])


def test_bound_of_the_tail_is_above_the_exact_probability():
    """The exact one is hypergeometric: `votes` or more marked ones among `drawn` of 1,000, of which 100 are marked."""
    from math import comb, log

    for drawn, votes in [(10, 3), (20, 10), (50, 12), (50, 50), (30, 3)]:
        exact = sum(comb(100, k) * comb(900, drawn - k) for k in range(votes, drawn + 1)) / comb(1000, drawn)
        (bound,) = detection._log_tail(np.array([drawn]), np.array([votes]), np.array([drawn * 0.1]))

        assert log(exact) <= bound <= 0
        assert votes <= 5 or bound < -2
