"""
Real servers that tests may kill, stop and start: Valkey alone, as a cluster, as a primary with sentinels, and
PostgreSQL.
"""

import importlib.util
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from redis import Redis
from redis.exceptions import RedisError

from server.managed_valkey import server as valkey

PATIENCE = 30.0  # seconds that a busy machine may take for anything
PROCESSES = 8  # in which tests may run at the same time; one without pytest-xdist counts as the last
GIVEN_PORTS: set[int] = set()  # by `free_port`, to this process
IN_MEMORY, ROOMY = Path("/dev/shm"), 2_000_000_000  # a folder of Linux whose files are in memory; enough free bytes
SLOTS = 16_384  # of a cluster
SERVICE = "upvote"  # the name of the primary among the sentinels
NODE_TIMEOUT = 1_000  # milliseconds after which a cluster or a sentinel takes a server for lost
BUSY = 30_000  # milliseconds, where no failover is wanted: a busy machine may delay a server for more than NODE_TIMEOUT


@dataclass
class Server:
    """A Valkey on a loopback port, with the same port and data after a restart. `settings` are those of valkey.conf."""

    folder: Path
    settings: dict[str, object] = field(default_factory=dict)
    flags: Sequence[str] = ()
    port: int = field(default_factory=lambda: free_port())
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def client(self) -> "Redis":
        return Redis(port=self.port, decode_responses=True, socket_timeout=5)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.launch()
        with self.client() as client:
            until(lambda: client.ping())

    def launch(self) -> None:
        """Start it without waiting. It ends with the calling thread."""
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "valkey.conf"
        if not config.exists():  # sentinels write theirs
            config.write_text("".join(f"{name} {value}\n" for name, value in self._settings().items()))
        self.process = subprocess.Popen(
            valkey.command([str(config), *self.flags]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        self.send(signal.SIGCONT)
        self.send(signal.SIGKILL)
        if self.process:
            self.process.wait()
        self.process = None

    def send(self, number: signal.Signals) -> None:
        if self.process:
            self.process.send_signal(number)

    def _settings(self) -> dict[str, object]:
        return {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": self.folder,
            "logfile": self.folder / "valkey.log",
            "save": '""',
            "appendonly": "yes",  # else a primary that restarts is empty, and empties its replicas
            "repl-diskless-sync-delay": 0,
            **self.settings,
        }


@contextmanager
def running(*servers: Server) -> Iterator[None]:
    with ExitStack() as stack:
        for server in servers:
            stack.callback(server.kill)
            server.start()
        yield


@dataclass
class Cluster:
    """A cluster. `servers` has its primaries, `primaries` in number, and then their replicas."""

    servers: list[Server]
    primaries: int = 3

    @property
    def url(self) -> str:
        return f"redis+cluster://{','.join(server.address for server in self.servers[: self.primaries])}"

    def primary_of(self, slot: int, but: Server | None = None) -> Server:
        """The primary of a slot, as reported by the first running server other than `but`."""
        informant = next(server for server in self.servers if server.process and server is not but)
        with informant.client() as client:
            (port,) = [port for first, last, port in _slots(client) if first <= slot <= last]
        return {server.port: server for server in self.servers}[port]

    def give_up_after(self, milliseconds: int) -> None:
        """Let a replica replace, from now on, a primary that did not answer for so many milliseconds."""
        for server in self.servers:
            with server.client() as client:
                client.config_set("cluster-node-timeout", milliseconds)

    def launch(self) -> None:
        """Start those that were killed."""
        for server in self.servers:
            if server.process is None:
                server.launch()

    def wait_until_complete(self) -> None:
        """Wait until all servers are connected and each primary has its replicas."""
        until(self.is_complete)

    def is_complete(self) -> bool:
        return all(self._is_complete(server) for server in self.servers)

    def _is_complete(self, server: Server) -> bool:
        replicas_each = len(self.servers) // self.primaries - 1
        with server.client() as client:
            info = client.execute_command("CLUSTER INFO")
            replication = client.info("replication")
        linked = replication.get("master_link_status", "up") == "up"
        served = replication["role"] == "slave" or replication["connected_slaves"] == replicas_each
        size = (info["cluster_known_nodes"], info["cluster_size"])
        known = info["cluster_state"] == "ok" and size == (str(len(self.servers)), str(self.primaries))
        return bool(linked and served and known)


@contextmanager
def running_cluster(folder: Path, primaries: int = 3, replicas: int = 3) -> Iterator[Cluster]:
    """Run a cluster without failovers; `give_up_after` allows them."""
    cluster = Cluster(
        [Server(folder / str(number), _cluster_settings()) for number in range(primaries + replicas)], primaries
    )
    with running(*cluster.servers):
        clients = [server.client() for server in cluster.servers]
        for number, client in enumerate(clients[:primaries]):
            start, end = SLOTS * number // primaries, SLOTS * (number + 1) // primaries
            client.execute_command("CLUSTER ADDSLOTSRANGE", start, end - 1)
        first = cluster.servers[0]
        for number, client in enumerate(clients, 1):
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number)
            client.execute_command("CLUSTER MEET", "127.0.0.1", first.port, first.settings["cluster-port"])
        ids = [client.execute_command("CLUSTER MYID") for client in clients]
        for primary, client in zip(ids, clients[primaries:], strict=False):
            until(lambda client=client, primary=primary: client.execute_command("CLUSTER REPLICATE", primary))
        for client in clients:
            client.close()
        until(cluster.is_complete)
        cluster.give_up_after(BUSY)
        yield cluster


@dataclass
class SentinelSetup:
    """A primary and its replicas, and their sentinels."""

    servers: list[Server]
    sentinels: list[Server]

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(sentinel.address for sentinel in self.sentinels)}/{SERVICE}"

    def wait_until_complete(self) -> None:
        """Wait until each sentinel knows all servers and sentinels."""
        until(lambda: all(_knows_all(sentinel) for sentinel in self.sentinels))

    def primary(self) -> Server:
        with self.sentinels[0].client() as client:
            _, port = client.execute_command("SENTINEL GET-MASTER-ADDR-BY-NAME", SERVICE)
        return next(server for server in self.servers if server.port == int(port))


@contextmanager
def running_sentinels(folder: Path) -> Iterator[SentinelSetup]:
    """Run a primary with two replicas and three sentinels."""
    primary = Server(folder / "0")
    replicas = [Server(folder / str(number), {"replicaof": f"127.0.0.1 {primary.port}"}) for number in (1, 2)]
    sentinel_settings = {
        "sentinel monitor": f"{SERVICE} 127.0.0.1 {primary.port} 2",
        "sentinel down-after-milliseconds": f"{SERVICE} {NODE_TIMEOUT}",
        "sentinel failover-timeout": f"{SERVICE} 5000",
    }
    sentinels = [Server(folder / f"sentinel{number}", sentinel_settings, ["--sentinel"]) for number in range(3)]
    setup = SentinelSetup([primary, *replicas], sentinels)
    with running(primary, *replicas, *sentinels):
        setup.wait_until_complete()
        yield setup


def until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until a condition is true. Connection errors count as false."""
    deadline = time.monotonic() + patience
    while True:
        try:
            if condition():
                return
        except (RedisError, OSError) as error:
            failure: Exception | None = error
        else:
            failure = None
        if time.monotonic() > deadline:
            raise AssertionError("the condition did not become true in time") from failure
        time.sleep(0.02)


def free_port() -> int:
    """
    A port that is not in use, and that no other process of pytest-xdist, nor an earlier call, was given.

    It is below the ports that the system assigns to clients, which could otherwise take it before the server does.
    """
    process = int(os.environ.get("PYTEST_XDIST_WORKER", f"gw{PROCESSES - 1}").removeprefix("gw"))
    while True:
        port = random.randrange(10_000 + process % PROCESSES, 32_000, PROCESSES)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            if port not in GIVEN_PORTS:
                GIVEN_PORTS.add(port)
                return port


def _cluster_settings() -> dict[str, object]:
    return {
        "cluster-enabled": "yes",
        "cluster-port": free_port(),
        "cluster-node-timeout": NODE_TIMEOUT,
        "cluster-replica-validity-factor": 0,
        "cluster-allow-replica-migration": "no",
    }


def _slots(client: "Redis") -> list[tuple[int, int, int]]:
    """First and last slot of each range, and the port of its primary."""
    client.set_response_callback("CLUSTER SLOTS", lambda reply, **options: reply)
    return [(first, last, primary[1]) for first, last, primary, *_ in client.execute_command("CLUSTER SLOTS")]


def _knows_all(sentinel: Server) -> bool:
    with sentinel.client() as client:
        state = client.sentinel_master(SERVICE)
    return state["num-slaves"] == 2 and state["num-other-sentinels"] == 2 and "disconnected" not in str(state["flags"])


@dataclass
class Postgres:
    """
    A PostgreSQL that listens on a socket in its folder, with the same data after a restart: the machine's own, or that
    of the package `pgserver`. As PostgreSQL refuses to run as root, it then runs as another user.
    """

    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://upvote@/{database}?host={self.folder}"

    def create(self) -> None:
        """Make its files, in a folder that may not exist yet, and start it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, _unprivileged())
        locale = ("--locale=C.UTF-8",) if sys.platform == "linux" else ()
        self._run("initdb", "--no-sync", "--auth=trust", "--username=upvote", "--encoding=UTF8", *locale).wait()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers. After `kill` its old processes may need a moment to end."""
        until(self._is_started)

    def kill(self) -> None:
        """Kill it and all its processes."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement outside of a transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _is_started(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            flags = ("-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=50")
            self.process = self._run("postgres", *flags)
        with suppress(psycopg.OperationalError):
            return bool(self.execute("SELECT 1"))
        return False

    def _run(self, program: str, *arguments: str) -> "subprocess.Popen[bytes]":
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [postgres_folder() / program, "-D", self.folder / "data", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=_unprivileged() if os.geteuid() == 0 else None,
                start_new_session=True,
            )


def postgres_folder() -> Path:
    """The folder of the programs of PostgreSQL. Raises FileNotFoundError if there is none."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    if package := importlib.util.find_spec("pgserver"):
        return Path(str(package.origin)).parent / "pginstall" / "bin"
    raise FileNotFoundError("neither PostgreSQL nor the package pgserver is installed")


def _unprivileged() -> str:
    return "postgres" if any(user.pw_name == "postgres" for user in pwd.getpwall()) else "nobody"


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A PostgreSQL with an empty folder that any user may enter, in memory if there is room: it creates many files."""
    is_roomy = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOMY
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if is_roomy else "/tmp") as folder:
        os.chmod(folder, 0o755)
        postgres = Postgres(Path(folder) / "postgres")
        try:
            postgres.create()
            yield postgres
        finally:
            postgres.kill()
