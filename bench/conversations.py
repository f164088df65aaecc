"""
Conversations of the shapes that comments have, for tests and figures: which comment answers which.

A conversation is a list: for each comment, in the order of posting, the index of the comment that it answers, or None
if it answers the article.
"""

import random
from collections.abc import Callable

Conversation = list[int | None]

TOP_LEVEL = 0.12  # share of comments that answer the article
RECENT = 0.55  # share of replies that answer one of the newest comments, as a dialogue does
NEWEST = 8


def like_hacker_news(size: int, chance: random.Random) -> Conversation:
    """
    A thread as on Hacker News: few comments have many replies (Zipf), most have none, and dialogues go deep.

    A reply answers one of the newest comments, or the comment that another random reply answers, so that comments with
    many replies get more.
    """
    made: Conversation = []
    for each in range(size):
        if not each or chance.random() < TOP_LEVEL:
            made.append(None)
        elif chance.random() < RECENT:
            made.append(chance.randrange(max(each - NEWEST, 0), each))
        else:
            other = chance.randrange(each)
            answered = made[other]
            made.append(other if answered is None else answered)
    return made


def random_tree(size: int, chance: random.Random) -> Conversation:
    """Each comment answers any earlier one, or the article."""
    return [None if (parent := chance.randrange(-1, each)) < 0 else parent for each in range(size)]


def with_chain(size: int, depth: int, chance: random.Random) -> Conversation:
    """A chain of replies of some depth; all other comments answer any earlier one."""
    chain: Conversation = [None, *range(depth)]
    return chain + [chance.randrange(each) for each in range(len(chain), size)]


def with_siblings(size: int, siblings: int, chance: random.Random) -> Conversation:
    """So many replies to the article; all other comments answer any earlier one."""
    top: Conversation = [None] * siblings
    return top + [chance.randrange(each) for each in range(siblings, size)]


def comb(size: int, chance: random.Random) -> Conversation:
    """Each second comment is answered twice, and the second answer goes on: the worst case for paths in the tree."""
    made: Conversation = [None]
    while len(made) < size:
        parent = len(made) - 1
        made += [parent, parent]
    return made[:size]


SHAPES: dict[str, Callable[[int, random.Random], Conversation]] = {
    "as on Hacker News": like_hacker_news,
    "random tree": random_tree,
    "chain of a tenth": lambda size, chance: with_chain(size, size // 10, chance),
    "siblings of a half": lambda size, chance: with_siblings(size, size // 2, chance),
    "comb": comb,
}
