"""What the number of an article, a comment or an action says: when it was given out, and whether by an import."""

from store import keys

HIGHEST_NUMBER = 2**53 - 1  # of an article: the largest integer that Lua and JSON represent exactly
HIGHEST_SEQUENCE = HIGHEST_NUMBER // keys.SLOTS  # a sequence is twice a time, so this one is reached in 2109
FIRST_STORY_SEQUENCE = 2**37 + 1  # of 1972, also for older stories: early versions gave out lower sequences


def sequence_of(number: int) -> int:
    """
    The sequence in an article's number, which is `sequence x 1024 + slot of the poster`.

    The sequence of a post is even: twice its time in unix milliseconds, or the next even one if its partition (share of
    the data) has given that to another post. The sequence of what was imported is odd: twice its time plus one, or the
    next odd one that is free. So posts and stories never share a number, and of two articles with equal values the one
    with the higher number was posted later, also in different partitions. Early versions counted from 1, so all their
    numbers are lower.
    """
    return number // keys.SLOTS


def is_of_story(sequence: int) -> bool:
    """Whether a sequence was given to an imported story, by a version that adds it to the sorted set `numbered`."""
    return sequence % 2 == 1 and sequence >= FIRST_STORY_SEQUENCE
