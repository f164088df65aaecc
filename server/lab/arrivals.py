"""
When each vote came. A file of stories does not tell, so this is a model: the poster's vote comes with the story, and
the others independently, each half-life half as many as in the one before, all within the voting window. Nobody sees
a story less because an order hides it: every order is shown the same votes.
"""

from array import array
from collections.abc import Sequence
from math import log2
from random import Random

from store.maintenance.import_stories import Story

HOUR = 3_600_000  # milliseconds


def arrivals(story: Story, half_life: float, window: float, seed: int) -> Sequence[int]:
    """
    The instants of a story's votes in unix milliseconds, in their order; the first is its posting time.

    `half_life` is in hours and `window` in seconds. A story and a seed give the same, whatever else is in a file.
    """
    within = 1 - 2 ** (-window * 1000 / (half_life * HOUR))  # the share of a tail without end that is in the window
    random = Random(f"{seed} {story.id}").random
    delays = (-log2(1 - random() * within) * half_life * HOUR for _ in range(story.votes - 1))
    return array("q", [story.time, *sorted(story.time + int(delay) for delay in delays)])
