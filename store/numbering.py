"""
Numbers of articles: `sequence x 1024 + slot of the poster`, below 2^53, so that Lua and JSON hold them exactly.

The sequence of a post is even: twice its time in unix milliseconds, or the next even one if its partition has given
that to another post. The sequence of an imported story is odd: twice the story's time plus one, or the next odd one
that is free. So posts and stories never share a number, and of two articles with equal values the one with the higher
number was posted later, in whatever partition. Early versions counted from 1: all their numbers are lower.
"""

from store.keys import SLOTS

HIGHEST = 2**53 - 1
HIGHEST_SEQUENCE = HIGHEST // SLOTS  # reached in 2109
FIRST_OF_STORIES = 2**37 + 1  # of 1972, also for older stories: early versions gave out lower sequences


def sequence(number: int) -> int:
    return number // SLOTS


def is_of_story(sequence: int) -> bool:
    """Whether a sequence was given to an imported story, but not by an early version: then `numbered` has it."""
    return sequence % 2 == 1 and sequence >= FIRST_OF_STORIES
