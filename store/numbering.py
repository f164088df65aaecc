"""
Numbers of articles: `sequence x 1024 + slot of the poster`, below 2^53, so that scripts and JSON hold them exactly.

The sequence of a post is twice its time in unix milliseconds, or the next even one where its partition has given that
out already: in one millisecond, or while the clock goes back. That of an imported story is odd: twice the story's own
time and one, or the next one that is free. So of equal values the higher number is the later posted, in whatever
partition, and posts and stories never have the same. Versions before counted from 1: all these numbers are lower.
"""

from store.keys import SLOTS

HIGHEST = 2**53 - 1
HIGHEST_SEQUENCE = HIGHEST // SLOTS  # of the year 2109
FIRST_OF_STORIES = 2**37 + 1  # of 1972; older stories have it too, as versions before have counted no further


def sequence(number: int) -> int:
    return number // SLOTS


def is_of_story(sequence: int) -> bool:
    """Whether a sequence was given to an imported story, by this version: `numbered` has it."""
    return sequence % 2 == 1 and sequence >= FIRST_OF_STORIES
