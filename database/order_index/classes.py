"""
The classes of votes, each of which has an index of its own in a listing by GRAVITY, the order by votes and age.
Articles are in one class if their `votes - 1` have the same sign, the same number of binary digits and the same first
`DIGITS` of them. Within a class, votes change the value by a few percent only, so it follows the posting time, and an
index by that time is enough.

Classes are numbered upwards from 0, that of `votes - 1` = 0; those of negative numbers likewise, with a minus.
"""

from functools import cache

DIGITS = 5  # leading binary digits of votes - 1 that the articles of a class share
CLASSES = 2 ** (DIGITS - 1)  # classes for each length of more than `DIGITS` binary digits: the first digit is always 1


def votes_class(votes: int) -> int:
    """The class of an article in the indexes of GRAVITY. Classes ascend with votes; 0 is that of one vote."""
    size = abs(votes - 1)
    shifts = max(size.bit_length() - DIGITS, 0)  # the digits that the class ignores
    number: int = shifts * CLASSES + (size >> shifts)
    return -number if votes < 1 else number


@cache
def bases(votes_class: int) -> tuple[int, int]:
    """The lowest and the highest base of a class: |votes - 1|, of which the formula of GRAVITY takes a power."""
    number = abs(votes_class)
    if number < 2 * CLASSES:  # the class ignores no digits
        return number, number
    shifts = number // CLASSES - 1  # inverse of `votes_class`, whose size >> shifts is CLASSES to 2 * CLASSES - 1
    lowest = (CLASSES + number % CLASSES) << shifts
    return lowest, lowest + (1 << shifts) - 1
