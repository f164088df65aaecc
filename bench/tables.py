"""
Tables of measurements in Markdown.

Below, "ours" are the samples of the project, "theirs" those of another server. "By CPU" compares the CPU time of a
request, which is less disturbed by other programs than responses per second. "Spread" is the difference between the
best and the worst round, relative to the median.
"""

from collections.abc import Iterable, Sequence
from statistics import median

from bench.rounds import Sample, Samples


def table(samples: Samples) -> str:
    """A table in Markdown, the project first: medians over the rounds; ratios are medians of each round's."""
    (ours, first), *_ = samples.items()
    head = ["server", "a second", "p50 ms", "p99 ms", "CPU µs", "MiB", f"{ours} is", "by CPU", "spread", "failed"]
    rows = [[name, *figures(found, first)] for name, found in samples.items()]
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def ahead(ours: list[Sample], theirs: list[Sample]) -> tuple[float, float]:
    """Our responses per second relative to theirs, and their CPU time per response relative to ours."""
    pairs = list(zip(ours, theirs, strict=True))
    return median(one.rate / other.rate for one, other in pairs), median(other.cpu / one.cpu for one, other in pairs)


def figures(found: list[Sample], ours: list[Sample]) -> list[str]:
    rates = [each.rate for each in found]
    faster, cheaper = ahead(ours, found)
    return [
        f"{median(rates):,.0f}".replace(",", " "),
        f"{median(each.p50 for each in found):.2f}",
        f"{median(each.p99 for each in found):.2f}",
        f"{median(each.cpu for each in found):.0f}",
        f"{median(each.memory for each in found):.0f}",
        f"{faster:.2f} x",
        f"{cheaper:.2f} x",
        f"{(max(rates) - min(rates)) / median(rates):.0%}",
        str(sum(each.failed for each in found)),
    ]
