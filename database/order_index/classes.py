"""
The classes of votes of indexes of GRAVITY: articles whose `votes - 1` have the same sign, the same length and the same
first `DIGITS` binary digits are in one index. Values by GRAVITY depend on votes and age, so within a class they follow
the posting time but for a few percent, and an index by that time is enough.
"""

from functools import cache

DIGITS = 5  # leading binary digits of votes - 1 that the articles of a class share
CLASSES = 2 ** (DIGITS - 1)  # that share a length of more than `DIGITS` binary digits; the first digit is 1


def votes_class(votes: int) -> int:
    """The class of an article in the indexes of GRAVITY. Classes ascend with votes; 0 is that of one vote."""
    size = abs(votes - 1)
    shifts = max(size.bit_length() - DIGITS, 0)
    number: int = shifts * CLASSES + (size >> shifts)
    return -number if votes < 1 else number


@cache
def bases(votes_class: int) -> tuple[int, int]:
    """The lowest and the highest |votes - 1| of a class."""
    number = abs(votes_class)
    if number < 2 * CLASSES:
        return number, number
    shifts = number // CLASSES - 1
    lowest = (CLASSES + number % CLASSES) << shifts
    return lowest, lowest + (1 << shifts) - 1
