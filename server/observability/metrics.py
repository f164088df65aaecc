"""Metrics in Prometheus' format: of this process or, where several answer, of all of them whichever is asked."""

import asyncio
import os
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from caches import CacheBudget
from engine import BackendUsage, Observation
from server.observability.counts import Counts, Name

FOLDER = "METRICS_OF_WORKERS"  # the variable that tells worker processes what they share
BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)  # seconds
BUCKETS = (*map(str, BOUNDS), "+Inf")

# Names are the clients' to invent, and each is a set of numbers for as long as the process lives.
MAX_NAMES = 100
MAX_CHARACTERS = 100
OTHER = "other"
LEVELS = ("warning", "error")

COUNTERS = {
    "operations": ("Operations begun.", ("operation",)),
    "store_round_trips": ("Round trips to the store.", ("operation",)),
    "store_commands": ("Commands sent to the store.", ("operation",)),
    "errors": ("Operations that had an error of a code.", ("operation", "code")),
    "executions": (
        "Queries and mutations by how: compiled, coalesced with an equal one, or why neither.",
        ("execution_path",),
    ),
    "log_records": ("Warnings and errors logged, but for the lines of operations.", ("level",)),
    "log_lines_dropped": ("Lines of the log that could not be written.", ()),
    "refusals": ("Requests without an operation that can be answered.", ("code",)),
}
SECONDS = ("operation_seconds", "Time until a query or a mutation was answered.")
CONNECTIONS = ("open_connections", "Connections open now, by the worker process that has them.")
OPEN = ("open_subscriptions", "Subscriptions open now.")
REFUSED = ("writes_refused", "1 while the store refuses writes, or does not answer.")
CACHES = {
    "cache_bytes": "What a cache holds, as it is estimated.",
    "cache_entries": "Entries of a cache.",
    "cache_evictions": "Entries that a cache has evicted to stay within its share of UPVOTE_CACHE_MB.",
}
PUBLISHING_SECONDS = 1.0


class Series(NamedTuple):
    """The places of what is counted for one operation name; of `seconds` there are as many as there are buckets."""

    name: str
    operations: int
    round_trips: int
    commands: int
    seconds: int
    sum_of_seconds: int


class Metrics(Collector):
    def __init__(self, budget: CacheBudget | None = None) -> None:
        self._budget = budget or CacheBudget()
        folder = os.environ.get(FOLDER)
        self._counts = Counts(Path(folder) if folder else None)
        self._numbers = self._counts.numbers
        self._open = self._counts.place(OPEN[0])
        self._levels = {level: self._counts.place("log_records", level) for level in LEVELS}
        self._dropped = self._counts.place("log_lines_dropped")
        self._known: dict[str, Series] = {}
        self.writes_refused = False  # as whoever is scraped finds it
        self._other = self._new_series(OTHER)
        self._registry = CollectorRegistry()
        self._registry.register(self)
        if folder is None:
            ProcessCollector(registry=self._registry)

    def scrape(self, request: Request) -> Response:
        """Not async: it reads two files per process."""
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    def began(self, observation: Observation) -> None:
        self._numbers[self._series(observation).operations] += 1
        if observation.request.is_subscription:
            self._numbers[self._open] += 1

    def ended(self, observation: Observation) -> None:
        numbers, series = self._numbers, self._series(observation)
        if observation.request.is_subscription:
            numbers[self._open] -= 1
        else:
            numbers[series.seconds + bisect_left(BOUNDS, observation.seconds)] += 1
            numbers[series.sum_of_seconds] += observation.seconds
            if observation.execution_path:  # else it was refused before
                numbers[self._counts.place("executions", observation.execution_path)] += 1
        for code in observation.codes:
            numbers[self._counts.place("errors", series.name, code)] += 1

    def answered(self, observation: Observation, usage: BackendUsage) -> None:
        series = self._series(observation)
        self._numbers[series.round_trips] += usage.round_trips
        self._numbers[series.commands] += usage.commands

    def refused(self, code: str) -> None:
        self._numbers[self._counts.place("refusals", code)] += 1

    def connections_of(self, worker: int) -> Callable[[int], None]:
        """What counts the connections that a worker, which this process is, gains or loses."""
        place = self._counts.place(CONNECTIONS[0], str(worker))

        def count(change: int) -> None:
            self._numbers[place] += change

        return count

    def logged(self, level: str) -> None:
        """From any thread: the places are known."""
        self._numbers[self._levels[level]] += 1

    def log_lines_dropped(self, count: int) -> None:
        self._numbers[self._dropped] += count

    @asynccontextmanager
    async def published(self) -> AsyncIterator[None]:
        """Let other processes that are asked for metrics know from time to time what the caches of this one hold."""
        publishing = asyncio.create_task(self._publish())
        try:
            yield
        finally:
            publishing.cancel()

    async def _publish(self) -> None:
        while True:
            self._measure_caches()
            await asyncio.sleep(PUBLISHING_SECONDS)

    def _measure_caches(self) -> None:
        for name, usage in self._budget.usages().items():
            for kind, number in zip(CACHES, usage, strict=True):
                self._numbers[self._counts.place(kind, name)] = number

    def collect(self) -> Iterator[Metric]:
        """What Prometheus asks a collector."""
        self._measure_caches()
        sums = self._counts.sums(OPEN[0], CONNECTIONS[0], *CACHES)
        for kind, (description, labels) in COUNTERS.items():
            counter = CounterMetricFamily(f"upvote_{kind}", description, labels=labels)
            for name, number in sums.items():
                if name[0] == kind:
                    counter.add_metric(name[1:], number)
            yield counter
        yield _histogram(sums)
        yield GaugeMetricFamily(f"upvote_{OPEN[0]}", OPEN[1], sums[OPEN[:1]])
        yield GaugeMetricFamily(f"upvote_{REFUSED[0]}", REFUSED[1], self.writes_refused)
        yield _connections(sums)
        for kind, description in CACHES.items():
            gauge = GaugeMetricFamily(f"upvote_{kind}", description, labels=["cache"])
            for name, number in sums.items():
                if name[0] == kind:
                    gauge.add_metric(name[1:], number)
            yield gauge

    def _series(self, observation: Observation) -> Series:
        name = observation.request.operation.name or ""
        known = self._known.get(name)
        if known is not None:
            return known
        if len(self._known) >= MAX_NAMES or len(name) > MAX_CHARACTERS:
            return self._other
        return self._known.setdefault(name, self._new_series(name))

    def _new_series(self, name: str) -> Series:
        place = self._counts.place
        seconds = [place(SECONDS[0], name, bucket) for bucket in (*BUCKETS, "sum")]
        return Series(
            name,
            place("operations", name),
            place("store_round_trips", name),
            place("store_commands", name),
            seconds[0],
            seconds[-1],
        )


def _histogram(sums: Mapping[Name, float]) -> HistogramMetricFamily:
    kind, description = SECONDS
    histogram = HistogramMetricFamily(f"upvote_{kind}", description, labels=["operation"])
    for operation in [name[1] for name in sums if name[0] == kind and name[2] == "sum"]:
        counts = accumulate(sums[kind, operation, bucket] for bucket in BUCKETS)
        histogram.add_metric([operation], list(zip(BUCKETS, counts, strict=True)), sums[kind, operation, "sum"])
    return histogram


def _connections(sums: Mapping[Name, float]) -> GaugeMetricFamily:
    kind, description = CONNECTIONS
    gauge = GaugeMetricFamily(f"upvote_{kind}", description, labels=["worker"])
    for name, number in sums.items():
        if name[0] == kind:
            gauge.add_metric(name[1:], number)
    return gauge
