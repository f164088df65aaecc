"""Targets of the project, compared with the results of a run."""

from collections.abc import Iterator, Mapping
from statistics import median

from bench.rounds import Samples
from bench.tables import ahead, markdown

OURS = "upvote"
VARIED_SHARE = 0.8  # `varied` has to reach this share of the speed of `page`, and of its targets
PAGE_RATIOS = (("strawberry", 45.0), ("mercurius", 5.0), ("scripted", 1.2), ("hand", 1 / 1.4))
MIN_RATIOS = (  # query, peer, minimum ratio
    *(("page", peer, times) for peer, times in PAGE_RATIOS),
    *(("varied", peer, VARIED_SHARE * times) for peer, times in PAGE_RATIOS),
    ("vote", "strawberry", 12.0),
    ("fallback", "strawberry", 3.0),
    *((query, "mercurius", 1.0) for query in ("group", "article", "nested", "feed", "vote")),
)
MAX_P99 = 3.0  # times p50


def judged(run: Mapping[str, Samples]) -> str:
    """A Markdown table of the targets for which the run has results."""
    return markdown(["target", "required", "per second", "by CPU"], _rows(run))


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


def _rows(run: Mapping[str, Samples]) -> Iterator[list[str]]:
    for query, peer, times in MIN_RATIOS:
        if peer in (found := run.get(query, {})):
            yield [f"`{query}`, times {peer}", f"{times:.2g}", *map(written, ahead(found[OURS], found[peer]))]
    if "page" in run and "varied" in run:
        kept = ahead(run["varied"][OURS], run["page"][OURS])
        yield ["`varied`, relative to `page`", f"{VARIED_SHARE:g}", *map(written, kept)]
    for query, found in run.items():
        slowest = median(each.p99 / each.p50 for each in found[OURS])
        yield [f"`{query}`, p99 relative to p50", f"at most {MAX_P99:g}", written(slowest), ""]


def written(ratio: float) -> str:
    return f"{ratio:.2f}"
