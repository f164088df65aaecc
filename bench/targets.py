"""
Targets of the project, compared with the results of a run. Queries are named as in `bench.queries`, servers (the
project and its peers, with which it is compared) as in `bench.servers`.
"""

from collections.abc import Iterator, Mapping
from statistics import median
from typing import NamedTuple

from bench.rounds import Samples
from bench.tables import ahead, markdown

OURS = "upvote"
VARIED = ("varied", "varied-uniform", "varied-skewed")
VARIED_SHARE = 0.8  # `varied` has to reach this share of the speed of `page`, and of its targets
CROWD_SHARE = 0.5  # `varied-crowd` has to reach this share of the speed of `varied`
# of the query `page`: the peer, and how many times faster than it the project has to be. `hand` is a lower bound of the
# cost: the project may take 1.4 times as much.
PAGE_RATIOS = (("strawberry", 45.0), ("mercurius", 5.0), ("scripted", 1.2), ("hand", 1 / 1.4))
MIN_RATIOS = (  # query, peer, and how many times faster than this peer the project has to be
    *(("page", peer, times) for peer, times in PAGE_RATIOS),
    *(("varied", peer, VARIED_SHARE * times) for peer, times in PAGE_RATIOS if peer != "mercurius"),
    *((query, "mercurius", 4.5) for query in VARIED),
    ("vote", "strawberry", 12.0),
    ("vote", "mercurius", 1.5),
    ("vote-on-comment", "mercurius", 1.5),
    ("fallback", "strawberry", 3.0),
    *((query, "mercurius", 1.0) for query in ("group", "article", "nested", "feed")),
)
MAX_P99 = 3.0  # times p50, of the times of the project's answers


class Target(NamedTuple):
    """
    A ratio that is required, and as measured: `rate` by responses per second (or by percentiles), `cpu` by CPU time. It
    has to be reached by CPU, where it has such a figure: the others depend on what else the machine does.
    """

    name: str
    required: str
    rate: float
    cpu: float | None
    is_missed: bool

    @property
    def is_missed_by_cpu(self) -> bool:
        return self.is_missed and self.cpu is not None


def judged(run: Mapping[str, Samples]) -> str:
    """A Markdown table of the targets for which the run has results, and a line for each that is missed."""
    targets = list(judgements(run))
    head = ["target", "required", "per second", "by CPU", ""]
    rows = [
        [each.name, each.required, written(each.rate), "" if each.cpu is None else written(each.cpu), _word(each)]
        for each in targets
    ]
    missed = [f"MISSED: {each.name}, required {each.required}" for each in targets if each.is_missed]
    return "\n\n".join([markdown(head, rows), *missed])


def judgements(run: Mapping[str, Samples]) -> Iterator[Target]:
    """The targets for which the run has results."""
    for query, peer, times in MIN_RATIOS:
        if peer in (found := run.get(query, {})):
            yield _at_least(f"`{query}`, times {peer}", times, ahead(found[OURS], found[peer]))
    if "page" in run and "varied" in run:
        yield _at_least("`varied`, relative to `page`", VARIED_SHARE, ahead(run["varied"][OURS], run["page"][OURS]))
    if "varied" in run and "varied-crowd" in run:
        ratios = ahead(run["varied-crowd"][OURS], run["varied"][OURS])
        yield _at_least("`varied-crowd`, relative to `varied`", CROWD_SHARE, ratios)
    for query, found in run.items():
        slowest = median(each.p99 / each.p50 for each in found[OURS])
        name = f"`{query}`, p99 relative to p50"
        yield Target(name, f"at most {MAX_P99:g}", rate=slowest, cpu=None, is_missed=slowest > MAX_P99)


def _at_least(name: str, required: float, ratios: tuple[float, float]) -> Target:
    """A target from ratios as `ahead` returns them: by responses per second, and by CPU time."""
    rate, cpu = ratios
    return Target(name, f"{required:.2g}", rate, cpu, cpu < required)


def _word(target: Target) -> str:
    return "MISSED" if target.is_missed else ""


def growth(sizes: Mapping[int, Mapping[str, Samples]]) -> str:
    """A Markdown table of the cost of each query at each number of articles, relative to the first number."""
    smallest, *_ = sizes.values()
    head = ["query", "server", *(f"{articles} articles" for articles in sizes)]
    return markdown(
        head,
        [
            [f"`{query}`", peer, *(written(ahead(first, run[query][peer])[1]) for run in sizes.values())]
            for query, servers in smallest.items()
            for peer, first in servers.items()
        ],
    )


def written(ratio: float) -> str:
    return f"{ratio:.2f}"
