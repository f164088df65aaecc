"""
A model of the times of votes, which a file of stories does not contain. The poster votes when the story is posted.
All other votes are independent, at a rate that decays exponentially within the voting window. They do not depend on
the order: a story that an order hides gets the same votes.
"""

from array import array
from collections.abc import Sequence
from math import log2
from random import Random

from store.maintenance.import_stories import Story

HOUR = 3_600_000  # milliseconds


def arrivals(story: Story, half_life: float, window: float, seed: int) -> Sequence[int]:
    """
    The times of a story's votes in unix milliseconds, sorted; the first is the posting time.

    `half_life` is in hours, `window` in seconds. The result depends only on the story and the seed.
    """
    share = 1 - 2 ** (-window * 1000 / (half_life * HOUR))  # of all delays: the probability of one within the window
    random = Random(f"{seed} {story.id}").random
    # Samples of the exponential distribution, by the inverse of its distribution function, of arguments below `share`:
    # so all delays are within the window.
    delays = (-log2(1 - random() * share) * half_life * HOUR for _ in range(story.votes - 1))
    return array("q", [story.time, *sorted(story.time + int(delay) for delay in delays)])
