"""Metrics in Prometheus' format: of this process or, where several answer, of all of them whichever is asked."""

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.requests import Request
from starlette.responses import Response

from server.wire import Observation, Tally

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's own name, which it reads when it is imported
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)

# Names are the clients' to invent, and each is a set of series for as long as the process lives.
MAX_NAMES = 100
MAX_CHARACTERS = 100
OTHER = "other"


class Series(NamedTuple):
    """What is counted for one operation name."""

    name: str
    operations: Counter
    seconds: Histogram
    round_trips: Counter
    commands: Counter


class Metrics:
    def __init__(self) -> None:
        disable_created_metrics()
        self._registry = CollectorRegistry()
        self._operations = self._counter("operations", "Operations begun.", "operation")
        self._round_trips = self._counter("store_round_trips", "Round trips to the store.", "operation")
        self._commands = self._counter("store_commands", "Commands sent to the store.", "operation")
        self._errors = self._counter("errors", "Operations that had an error of a code.", "operation", "code")
        self._executions = self._counter("executions", "Queries and mutations by how: compiled, or why not.", "way")
        self._refusals = self._counter("refusals", "Requests without an operation that can be answered.", "code")
        self._seconds = Histogram(
            "upvote_operation_seconds",
            "Time until a query or a mutation was answered.",
            ["operation"],
            registry=self._registry,
            buckets=SECONDS,
        )
        self._open = Gauge(
            "upvote_open_subscriptions",
            "Subscriptions open now.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self._way = lru_cache(self._executions.labels)
        self._known: dict[str, Series] = {}
        self._other = self._new_series(OTHER)
        if FOLDER not in os.environ:
            ProcessCollector(registry=self._registry)

    def scrape(self, request: Request) -> Response:
        """Not async: it reads a file per process and kind, so Starlette gives it a thread."""
        return Response(generate_latest(self._collected()), headers={"Content-Type": CONTENT_TYPE_LATEST})

    def began(self, observation: Observation) -> None:
        self._series(observation.call.operation.name or "").operations.inc()
        if observation.call.is_subscription:
            self._open.inc()

    def ended(self, observation: Observation) -> None:
        series = self._series(observation.call.operation.name or "")
        if observation.call.is_subscription:
            self._open.dec()
        else:
            series.seconds.observe(observation.seconds)
            self._way(observation.way).inc()
        for code in observation.codes:
            self._errors.labels(series.name, code).inc()

    def answered(self, observation: Observation, tally: Tally) -> None:
        series = self._series(observation.call.operation.name or "")
        series.round_trips.inc(tally.round_trips)
        series.commands.inc(tally.commands)

    def refused(self, code: str) -> None:
        self._refusals.labels(code).inc()

    def _series(self, name: str) -> Series:
        known = self._known.get(name)
        if known is not None:
            return known
        if len(self._known) >= MAX_NAMES or len(name) > MAX_CHARACTERS:
            return self._other
        return self._known.setdefault(name, self._new_series(name))

    def _new_series(self, name: str) -> Series:
        return Series(
            name,
            self._operations.labels(name),
            self._seconds.labels(name),
            self._round_trips.labels(name),
            self._commands.labels(name),
        )

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"upvote_{name}", description, labels, registry=self._registry)

    def _collected(self) -> CollectorRegistry:
        folder = os.environ.get(FOLDER)
        if folder is None:
            return self._registry
        forget_the_dead(Path(folder))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        return registry


def forget_the_dead(folder: Path) -> None:
    """What a killed process had open is open no more; what it counted stays counted."""
    for file in folder.glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            mark_process_dead(process, str(folder))
