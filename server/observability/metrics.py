"""Metrics in Prometheus' format. With several worker processes, each of them shows the totals of all."""

import asyncio
import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import accumulate
from mmap import mmap
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple, TypeVar
from weakref import finalize

import orjson
from prometheus_client import CollectorRegistry, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.responses import Response

from caches import POOL, Pool
from engine import BackendUsage, Observation
from server.observability.memory import MemoryGauges

CAPACITY = 65_536  # counters of a process: ten times as many as all operation names and error codes need
SIZE = 8 * CAPACITY  # bytes: each counter is a float of 64 bits
FOLDER = "METRICS_OF_WORKERS"  # environment variable: the folder of the counters that worker processes share
BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)  # seconds
BUCKETS = (*map(str, BOUNDS), "+Inf")

# Clients choose the names of operations, and each takes memory for as long as the process runs.
MAX_NAMES = 100  # that are counted by themselves
MAX_CHARACTERS = 100  # of such a name
OTHER = "other"  # counts the operations whose names are too long, or too many
LEVELS = ("warning", "error")

COUNTERS = {  # the description and the labels of each, by its name
    "operations": ("Operations started.", ("operation",)),
    "store_round_trips": ("Round trips to the store.", ("operation",)),
    "store_commands": ("Commands sent to the store.", ("operation",)),
    "errors": ("Operations with an error, by its code.", ("operation", "code")),
    "executions": (
        "Queries and mutations by execution path: compiled, coalesced with an equal one, or why neither.",
        ("execution_path",),
    ),
    "log_records": ("Warnings and errors logged, without the log lines of operations.", ("level",)),
    "log_lines_dropped": ("Log lines that could not be written.", ()),
    "text_checks": ("Texts that were sent to UPVOTE_CHECK_URL, by what became of it.", ("result",)),
    "webhook_tries": ("Messages that were sent to webhooks, by whether the receiver has taken them.", ("result",)),
    "mails": ("Mails that were due, by what became of them.", ("result",)),
    "refusals": ("Requests refused before an operation was executed, by error code.", ("code",)),
}
# The names and the descriptions of other metrics.
SECONDS = ("operation_seconds", "Time to answer a query or a mutation.")
CONNECTIONS = ("open_connections", "Open connections, by worker process.")
OPEN = ("open_subscriptions", "Open subscriptions.")
REFUSED = ("writes_refused", "1 while the store refuses writes or does not answer.")
CACHES = {
    "cache_bytes": "Estimated size of a cache.",
    "cache_entries": "Entries of a cache.",
    "cache_evictions": "Entries evicted to keep all caches within UPVOTE_CACHE_MB.",
    "cache_hits": "Lookups that a cache has answered.",
    "cache_misses": "Lookups that a cache has not answered.",
}
CACHE_SECONDS = 1.0  # between two measurements of the caches

DATABASE = {
    "up": "1 while the database answers.",
    "lag_entries": "Entries of the log that the database does not have yet, counted up to 10 000 for each partition.",
    "lag_seconds": "Age of the oldest entry of the log that the database does not have yet.",
}

MEMORY = {
    "used_bytes": "Memory that the fullest server of the store uses.",
    "limit_bytes": "Its limit: maxmemory, or else that of its cgroup or machine.",
    "full_timestamp_seconds": "When it is full at the pace of the last week, in unix time; +Inf if it does not grow.",
}

WEBHOOKS = {
    "pending": "Messages that wait for a webhook, by its id.",
    "pending_seconds": "Age of the oldest message that waits for a webhook, by its id.",
    "off": "1 while a webhook is switched off, by its id.",
}

MAILS = {
    "due": "Mails that are due, and are not sent yet.",
    "due_seconds": "How long the first of them is due.",
}

Name = tuple[str, ...]  # of a counter: its kind and the values of its labels
Family = TypeVar("Family", CounterMetricFamily, GaugeMetricFamily)


class Series(NamedTuple):
    """The indexes of the counters of one operation name; `seconds` is the index of the histogram's first bucket."""

    name: str
    operations: int
    round_trips: int
    commands: int
    seconds: int
    sum_of_seconds: int


class DatabaseGauges(NamedTuple):
    """Whether the database answers, and how far it is behind the store."""

    up: bool
    lag_entries: int
    lag_seconds: float


class WebhookGauges(NamedTuple):
    """What waits for a webhook, and whether it is switched off."""

    pending: int
    pending_seconds: float
    off: bool


class MailGauges(NamedTuple):
    """The mails that are due."""

    due: int
    due_seconds: float


class Metrics(Collector):
    """The metrics of a process. It is an observer of the engine, and called by other modules for all else."""

    def __init__(self, pool: Pool = POOL) -> None:
        self._pool = pool
        folder = os.environ.get(FOLDER)
        self._counters = Counters(Path(folder) if folder else None)
        self._values = self._counters.values
        self._open = self._counters.index(OPEN[0])
        self._levels = {level: self._counters.index("log_records", level) for level in LEVELS}
        self._dropped = self._counters.index("log_lines_dropped")
        self._known: dict[str, Series] = {}
        self.writes_refused = False  # the handler of `/metrics` sets it before each scrape
        self.database: DatabaseGauges | None = None  # likewise
        self.webhooks: Mapping[int, WebhookGauges] = {}  # likewise
        self.mails: MailGauges | None = None  # likewise
        self.memory: MemoryGauges | None = None  # likewise
        self._other = self._new_series(OTHER)
        self._registry = CollectorRegistry()
        self._registry.register(self)
        if folder is None:
            ProcessCollector(registry=self._registry)

    def scrape(self) -> Response:
        """Return the metrics of all processes. Blocks: two files of each process are read."""
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    def on_start(self, observation: Observation) -> None:
        series = observation.counters = self._series(observation.request.operation.name or "")
        self._values[series.operations] += 1
        if observation.request.operation.is_subscription:
            self._values[self._open] += 1

    def on_end(self, observation: Observation) -> None:
        values, series = self._values, observation.counters
        if observation.request.operation.is_subscription:
            values[self._open] -= 1
        else:
            values[series.seconds + bisect_left(BOUNDS, observation.seconds)] += 1  # the bucket of this time
            values[series.sum_of_seconds] += observation.seconds
            if observation.execution_path:  # empty if the operation was refused
                values[self._counters.index("executions", observation.execution_path)] += 1
        for code in observation.codes:
            values[self._counters.index("errors", series.name, code)] += 1

    def on_result(self, observation: Observation, usage: BackendUsage) -> None:
        series: Series = observation.counters
        self._values[series.round_trips] += usage.round_trips
        self._values[series.commands] += usage.commands

    def on_refusal(self, code: str) -> None:
        self._values[self._counters.index("refusals", code)] += 1

    def connections_of(self, worker: int) -> Callable[[int], None]:
        """Return a callback that changes the number of open connections of this process, worker number `worker`."""
        index = self._counters.index(CONNECTIONS[0], str(worker))

        def count(change: int) -> None:
            self._values[index] += change

        return count

    def logged(self, level: str) -> None:
        """Count a log record. Thread-safe, because the indexes are known beforehand."""
        self._values[self._levels[level]] += 1

    def text_checked(self, result: str) -> None:
        self._values[self._counters.index("text_checks", result)] += 1

    def webhook_tried(self, result: str) -> None:
        self._values[self._counters.index("webhook_tries", result)] += 1

    def mail_tried(self, result: str) -> None:
        self._values[self._counters.index("mails", result)] += 1

    def log_lines_dropped(self, count: int) -> None:
        self._values[self._dropped] += count

    @asynccontextmanager
    async def measuring_caches(self) -> AsyncIterator[None]:
        """Measure the caches periodically, so that other processes can show them."""
        task = asyncio.create_task(self._measure_periodically())
        try:
            yield
        finally:
            task.cancel()

    async def _measure_periodically(self) -> None:
        while True:
            self._measure_caches()
            await asyncio.sleep(CACHE_SECONDS)

    def _measure_caches(self) -> None:
        for name, usage in self._pool.usages().items():
            for kind, value in zip(CACHES, usage, strict=True):  # both are in the same order
                self._values[self._counters.index(kind, name)] = value

    def collect(self) -> Iterator[Metric]:
        """Called by prometheus-client at a scrape."""
        self._measure_caches()
        totals = self._counters.totals(OPEN[0], CONNECTIONS[0], *CACHES)
        for kind, (description, labels) in COUNTERS.items():
            yield _labelled(CounterMetricFamily(f"upvote_{kind}", description, labels=labels), kind, totals)
        yield _histogram(totals)
        yield GaugeMetricFamily(f"upvote_{OPEN[0]}", OPEN[1], totals[OPEN[:1]])
        yield GaugeMetricFamily(f"upvote_{REFUSED[0]}", REFUSED[1], self.writes_refused)
        kind, description = CONNECTIONS
        yield _labelled(GaugeMetricFamily(f"upvote_{kind}", description, labels=["worker"]), kind, totals)
        for kind, description in CACHES.items():
            yield _labelled(GaugeMetricFamily(f"upvote_{kind}", description, labels=["cache"]), kind, totals)
        for kind, value in self.database._asdict().items() if self.database else ():
            yield GaugeMetricFamily(f"upvote_database_{kind}", DATABASE[kind], value)
        for kind, value in self.memory._asdict().items() if self.memory else ():
            yield GaugeMetricFamily(f"upvote_store_memory_{kind}", MEMORY[kind], value)
        for kind, value in self.mails._asdict().items() if self.mails else ():
            yield GaugeMetricFamily(f"upvote_mails_{kind}", MAILS[kind], value)
        for kind, description in WEBHOOKS.items():
            family = GaugeMetricFamily(f"upvote_webhook_{kind}", description, labels=["webhook"])
            for id, gauges in self.webhooks.items():
                family.add_metric([str(id)], getattr(gauges, kind))
            yield family

    def _series(self, name: str) -> Series:
        known = self._known.get(name)
        if known is not None:
            return known
        if len(self._known) >= MAX_NAMES or len(name) > MAX_CHARACTERS:
            return self._other
        return self._known.setdefault(name, self._new_series(name))

    def _new_series(self, name: str) -> Series:
        index = self._counters.index
        seconds = [index(SECONDS[0], name, bucket) for bucket in (*BUCKETS, "sum")]
        return Series(
            name,
            operations=index("operations", name),
            round_trips=index("store_round_trips", name),
            commands=index("store_commands", name),
            seconds=seconds[0],
            sum_of_seconds=seconds[-1],
        )


class Counters:
    """
    Counters of one process or, in files of a shared folder, of several processes.

    `values` holds the counters of this process, each at the index of its name.

    With a folder, the values are in a file. Other processes read it at any time, and it remains if this process is
    killed. A second file has the names: one line for each index.

    prometheus-client's multiprocess mode takes 11.2 us of CPU for the six updates of an operation, this class 0.64
    (bench/RESULTS.md). The disk space is allocated beforehand, so that a full disk does not kill the process.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._indexes: dict[Name, int] = {}
        if folder is None:
            self.values = memoryview(bytearray(SIZE)).cast("d")
            return
        file, path = mkstemp(".values", f"{os.getpid()}-", folder)  # unique, even if an earlier process had this id
        _allocate(file)
        self.values = memoryview(mmap(file, SIZE)).cast("d")
        os.close(file)
        names = Path(path).with_suffix(".names")
        self._names = os.open(names, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        finalize(self, os.close, self._names)

    def index(self, *name: str) -> int:
        """The index of a name. For a new name on a full disk it is the last index, whose counter is never read."""
        known = self._indexes.get(name)
        if known is not None:
            return known
        if self._folder and not _append(self._names, orjson.dumps(name) + b"\n"):
            return CAPACITY - 1
        return self._indexes.setdefault(name, len(self._indexes))

    def totals(self, *live: str) -> dict[Name, float]:
        """The sums over all processes; for names that begin with one of `live`, over those that still run."""
        if self._folder is None:
            return {name: self.values[index] for name, index in list(self._indexes.items())}
        totals: dict[Name, float] = defaultdict(float)
        for path in self._folder.glob("*.names"):
            is_running = _is_running(int(path.stem.partition("-")[0]))
            for name, value in _read(path):
                totals[name] += value if is_running or name[0] not in live else 0
        return totals


def _histogram(totals: Mapping[Name, float]) -> HistogramMetricFamily:
    """The times of operations. Names of their counters are the kind, the operation, and a bucket or `sum`."""
    kind, description = SECONDS
    histogram = HistogramMetricFamily(f"upvote_{kind}", description, labels=["operation"])
    for operation in [name[1] for name in totals if name[0] == kind and name[2] == "sum"]:
        counts = accumulate(totals[kind, operation, bucket] for bucket in BUCKETS)
        histogram.add_metric([operation], list(zip(BUCKETS, counts, strict=True)), totals[kind, operation, "sum"])
    return histogram


def _labelled(family: Family, kind: str, totals: Mapping[Name, float]) -> Family:
    """Add the totals of one kind, each with its labels."""
    for name, value in totals.items():
        if name[0] == kind:
            family.add_metric(name[1:], value)
    return family


def _allocate(file: int) -> None:
    """Allocate the whole file on the disk: a process that writes to a mapped page without disk space is killed."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, SIZE)
    else:
        os.truncate(file, SIZE)


def _append(file: int, line: bytes) -> bool:
    """Append the whole line or nothing; return whether it was appended."""
    size = os.fstat(file).st_size
    try:
        if os.write(file, line) == len(line):
            return True
    except OSError:
        pass  # the disk is full
    os.ftruncate(file, size)
    return False


def _read(path: Path) -> Iterator[tuple[Name, float]]:
    names = path.read_bytes().split(b"\n")[:-1]  # without what follows the last line end
    values = memoryview(path.with_suffix(".values").read_bytes()).cast("d")
    return zip(map(tuple, map(orjson.loads, names)), values, strict=False)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)  # no signal: only checks whether there is the process
    except ProcessLookupError:
        return False
    return True
