"""
Faults at random moments while people write: kills, a full disk, a closed log, no more files, lost connections.

After each fault the server heals or is started again, and everything that was acknowledged is there, once. Run it alone
with `python -m tests.soak.chaos --minutes 5 --seed 1`.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from redis import Redis

from tests.servers import free_port
from tests.soak.processes import Process, processes_below

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds that healing may take
DISK_BYTES = 64_000_000
PEOPLE = 12
ALLOWED_CODES = {"UNAVAILABLE"}  # of requests that meet a fault
FAULTS = (
    "valkey killed",
    "valkey stopped",
    "worker killed",
    "server killed",
    "server restarted",
    "connections lost",
    "disk full",
    "log closed",
    "log not read",
    "no more files",
)

REGISTER = "mutation($name: String!) { register(input: {username: $name, password: $name}) { token } }"
LOG_IN = "mutation($name: String!) { logIn(input: {username: $name, password: $name}) { token } }"
POST = """mutation($key: String!) { post(input: {title: $key, content: "a text", idempotencyKey: $key}) {
  article { id } userErrors { code } } }"""
VOTE = """mutation($id: ID!, $value: VoteValue!) { vote(input: {articleId: $id, value: $value}) {
  article { id } userErrors { code } } }"""
FOLLOW = "mutation($id: ID!) { followUser(input: {userId: $id}) { user { id } userErrors { code } } }"
UNFOLLOW = "mutation($id: ID!) { unfollowUser(input: {userId: $id}) { user { id } userErrors { code } } }"
PAGE = "{ articles { totalCount nodes { id title votes } } }"
VOTES = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Article { id title votes viewerVote } } }"
FOLLOWING = "{ viewer { following(first: 100) { nodes { id } } } }"
TIMELINE = """query($name: String!, $after: String) { user(username: $name) { articles(first: 100, after: $after) {
  nodes { title } pageInfo { hasNextPage endCursor } } } }"""


@dataclass
class Person:
    """A user, and what the server has acknowledged to them."""

    name: str
    token: str = ""
    posts: dict[str, str] = field(default_factory=dict)  # article ids by title
    votes: dict[str, str] = field(default_factory=dict)  # vote values by article id
    following: set[str] = field(default_factory=set)


class WrongAnswer(AssertionError):
    """The server said something that no fault excuses."""


class Server:
    """`upvote serve` with two workers in a data folder. Its log goes into a pipe that we read, or do not."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._log_reader: threading.Thread | None = None

    async def start(self) -> None:
        settings = {
            "UPVOTE_PORT": str(self.port),
            "UPVOTE_DATA_DIR": str(self.data_dir),
            "UPVOTE_WORKERS": "2",
            "UPVOTE_DURABILITY": "always",
            "UPVOTE_RATE_LIMITS": "off",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("UPVOTE_")}
        read, write = os.pipe()
        self.process = subprocess.Popen(  # noqa: ASYNC220  it does not wait for it
            [sys.executable, "-m", "server", "serve"],
            cwd=ROOT,
            env=inherited | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=write,
        )
        os.close(write)
        self._log = os.fdopen(read, "rb", buffering=0)
        self.read_log()
        await self.until_ready()

    def read_log(self) -> None:
        self._log_is_read = True
        self._log_reader = threading.Thread(target=self._read_log, daemon=True)
        self._log_reader.start()

    def _read_log(self) -> None:
        while self._log_is_read:
            readable, _, _ = select.select([self._log], [], [], 0.1)
            if readable and not self._log.read(65_536):
                return

    async def stop_reading_log(self) -> None:
        """What is logged from now on fills the pipe."""
        self._log_is_read = False
        if self._log_reader:
            await asyncio.to_thread(self._log_reader.join)

    async def close_log(self) -> None:
        await self.stop_reading_log()
        self._log.close()

    async def until_ready(self) -> None:
        async with httpx.AsyncClient(base_url=self.url, timeout=5) as client:
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                if self.process and self.process.poll() is not None:
                    raise WrongAnswer(f"the server ended by itself with {self.process.returncode}")
                with suppress(httpx.HTTPError, KeyError, json.JSONDecodeError):
                    answer = (await client.post("/graphql", json={"query": PAGE})).json()
                    if answer["data"]["articles"] is not None:
                        return
                await asyncio.sleep(0.1)
        raise WrongAnswer(f"the server does not answer after {PATIENCE:g} s")

    async def end(self, by: signal.Signals) -> int:
        assert self.process is not None
        family = processes_below(self.process.pid)
        self.process.send_signal(by)
        code = await asyncio.to_thread(self.process.wait, PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while alive := [process for process in family if process.is_alive()]:
            if time.monotonic() > deadline:
                raise WrongAnswer(f"still there after the server: {[process.command() for process in alive]}")
            await asyncio.sleep(0.05)
        await self.close_log()
        return code

    def workers(self) -> list[Process]:
        assert self.process is not None
        return [each for each in processes_below(self.process.pid)[1:] if "multiprocessing" in each.command()]

    def valkey(self) -> int:
        with self.redis() as redis:
            return int(redis.info("server")["process_id"])

    def redis(self) -> "Redis":
        return Redis(unix_socket_path=(self.data_dir / "address").read_text(), decode_responses=True, socket_timeout=5)


class Chaos:
    def __init__(self, server: Server, seed: int) -> None:
        self.server = server
        self.random = random.Random(seed)
        self.people = [Person(f"person-{number:02d}-{seed % 10_000}") for number in range(PEOPLE)]
        self.articles: list[str] = []
        self.done: Counter[str] = Counter()
        self.reached: Counter[str] = Counter()
        self._is_over = False
        self._began = time.monotonic()

    async def run(self, seconds: float) -> None:
        await self.server.start()
        await asyncio.gather(*map(self._register, self.people))
        deadline, faults = time.monotonic() + seconds, list(FAULTS)
        self.random.shuffle(faults)
        for turn in count():
            if time.monotonic() > deadline and turn >= len(faults):
                break
            await self._round(faults[turn % len(faults)])
        code = await self.server.end(signal.SIGTERM)
        if code != 0:
            raise WrongAnswer(f"SIGTERM ended the server with {code}")
        await self._verify_store()

    async def _round(self, fault: str) -> None:
        """Write, have a fault meanwhile, write on until all is answered; then compare everything."""
        self._is_over = False
        writing = asyncio.gather(*map(self._write, self.people))
        try:
            await asyncio.sleep(self.random.uniform(0.1, 1.0))
            print(f"{time.monotonic() - self._began:6.1f} s  {fault}", flush=True)
            await getattr(self, f"_{fault.replace(' ', '_')}")()
            self.reached[fault] += 1
            await self.server.until_ready()
            await asyncio.sleep(self.random.uniform(0.1, 0.5))
        finally:
            self._is_over = True
        await asyncio.wait_for(writing, PATIENCE)
        await self._compare()

    async def _valkey_killed(self) -> None:
        os.kill(self.server.valkey(), signal.SIGKILL)

    async def _valkey_stopped(self) -> None:
        valkey = self.server.valkey()
        os.kill(valkey, signal.SIGSTOP)
        try:
            await asyncio.sleep(self.random.uniform(0.5, 4.0))
        finally:
            os.kill(valkey, signal.SIGCONT)

    async def _worker_killed(self) -> None:
        workers = self.server.workers()
        if not workers:
            raise WrongAnswer("the server has no workers to kill")
        os.kill(self.random.choice(workers).pid, signal.SIGKILL)

    async def _server_killed(self) -> None:
        await self.server.end(signal.SIGKILL)
        await self.server.start()

    async def _server_restarted(self) -> None:
        code = await self.server.end(signal.SIGTERM)
        if code != 0:
            raise WrongAnswer(f"SIGTERM ended the server with {code}")
        await self.server.start()

    async def _connections_lost(self) -> None:
        with self.server.redis() as redis:
            for kind in ("normal", "pubsub"):
                redis.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")

    async def _disk_full(self) -> None:
        filler = self.server.data_dir / "filler"
        try:
            fill(filler)
            await asyncio.sleep(self.random.uniform(1.0, 4.0))
            await self._readable()
        finally:
            filler.unlink(missing_ok=True)

    async def _log_closed(self) -> None:
        await self.server.close_log()
        await asyncio.sleep(1.0)
        await self.server.until_ready()
        await self._server_restarted_without_log()

    async def _log_not_read(self) -> None:
        await self.server.stop_reading_log()
        await asyncio.sleep(self.random.uniform(1.0, 3.0))
        await self._readable()
        self.server.read_log()

    async def _no_more_files(self) -> None:
        assert self.server.process is not None
        processes = [each for each in processes_below(self.server.process.pid) if "valkey" not in each.command()]
        limits = {}
        for each in processes:
            with suppress(ProcessLookupError):
                used = len(os.listdir(f"/proc/{each.pid}/fd"))
                limits[each.pid] = resource.prlimit(each.pid, resource.RLIMIT_NOFILE)
                resource.prlimit(each.pid, resource.RLIMIT_NOFILE, (used, limits[each.pid][1]))
        try:
            await asyncio.sleep(self.random.uniform(0.5, 3.0))
        finally:
            for pid, limit in limits.items():
                with suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)

    async def _server_restarted_without_log(self) -> None:
        await self.server.end(signal.SIGTERM)
        await self.server.start()

    async def _readable(self) -> None:
        """Reads go on, whatever cannot be written."""
        async with httpx.AsyncClient(base_url=self.server.url, timeout=PATIENCE) as client:
            answer = (await client.post("/graphql", json={"query": PAGE})).json()
        if "errors" in answer:
            raise WrongAnswer(f"a read failed where only writes may: {answer['errors']}")

    async def _register(self, person: Person) -> None:
        async with self._client(person) as client:
            answer = await self._insist(client, REGISTER, name=person.name)
            if answer["register"]["token"] is None:  # carried out before, and its answer lost
                answer = {"register": (await self._insist(client, LOG_IN, name=person.name))["logIn"]}
            person.token = answer["register"]["token"]

    async def _write(self, person: Person) -> None:
        async with self._client(person) as client:
            while not self._is_over:
                await self.random.choice([self._post, self._vote, self._vote, self._follow])(client, person)

    async def _post(self, client: httpx.AsyncClient, person: Person) -> None:
        title = f"{person.name} {len(person.posts)}"
        answer = await self._insist(client, POST, key=title)
        person.posts[title] = answer["post"]["article"]["id"]
        self.articles.append(person.posts[title])
        self.done["posts"] += 1

    async def _vote(self, client: httpx.AsyncClient, person: Person) -> None:
        """On one of the newest articles of others, so that many vote on the same."""
        others = [id for id in self.articles[-20:] if id not in person.posts.values()]
        if not others:
            return
        id, value = self.random.choice(others), self.random.choice(["UP", "DOWN", "NONE"])
        person.votes.pop(id, None)
        await self._insist(client, VOTE, id=id, value=value)
        person.votes[id] = value
        self.done["votes"] += 1

    async def _follow(self, client: httpx.AsyncClient, person: Person) -> None:
        other = self.random.choice([each for each in self.people if each is not person])
        id, follows = f"user:{other.name}", self.random.random() < 0.6
        await self._insist(client, FOLLOW if follows else UNFOLLOW, id=id)
        (person.following.add if follows else person.following.discard)(id)
        self.done["follows"] += 1

    async def _insist(self, client: httpx.AsyncClient, query: str, **variables: str) -> dict[str, Any]:
        """Send it until it is answered: every write is safe to be sent again."""
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline:
            try:
                answer = (await client.post("/graphql", json={"query": query, "variables": variables})).json()
            except (httpx.HTTPError, json.JSONDecodeError):
                self.reached["requests without an answer"] += 1
                await asyncio.sleep(0.1)
                continue
            codes = {error["extensions"]["code"] for error in answer.get("errors", ())}
            if not codes:
                return answer["data"]
            if not codes <= ALLOWED_CODES:
                raise WrongAnswer(f"{query} with {variables}: {answer['errors']}")
            self.reached["refused writes"] += 1
            await asyncio.sleep(0.05)
        raise WrongAnswer(f"no answer to {query} with {variables} in {2 * PATIENCE:g} s")

    @asynccontextmanager
    async def _client(self, person: Person) -> AsyncIterator[httpx.AsyncClient]:
        headers = {"Authorization": f"Bearer {person.token}"} if person.token else {}
        async with httpx.AsyncClient(base_url=self.server.url, headers=headers, timeout=10) as client:
            yield client

    async def _compare(self) -> None:
        await asyncio.gather(*map(self._compare_person, self.people))
        votes = Counter([id for person in self.people for id in person.posts.values()])
        for person in self.people:
            for id, value in person.votes.items():
                votes[id] += {"UP": 1, "DOWN": -1, "NONE": 0}[value]
        async with self._client(self.people[0]) as client:
            for nodes in [await self._nodes(client, ids) for ids in batches(list(votes), 100)]:
                for id, node in nodes.items():
                    if node["votes"] != votes[id]:
                        raise WrongAnswer(f"{id} has {node['votes']} votes, not the {votes[id]} acknowledged")
            total = (await self._insist(client, PAGE))["articles"]["totalCount"]
        if total != len(votes):
            raise WrongAnswer(f"the site has {total} articles, not the {len(votes)} acknowledged")

    async def _compare_person(self, person: Person) -> None:
        async with self._client(person) as client:
            found = [title async for title in self._timeline(client, person)]
            if Counter(found) != Counter(list(person.posts)):
                raise WrongAnswer(f"{person.name} has {sorted(set(person.posts) ^ set(found))} too many or too few")
            for ids in batches(list(person.votes), 100):
                for id, node in (await self._nodes(client, ids)).items():
                    if node["viewerVote"] != person.votes[id]:
                        raise WrongAnswer(f"{person.name} voted {person.votes[id]} on {id}: {node['viewerVote']}")
            viewer = (await self._insist(client, FOLLOWING))["viewer"]
            following = {node["id"] for node in viewer["following"]["nodes"]}
            if following != person.following:
                raise WrongAnswer(f"{person.name} follows {following}, not {person.following}")

    async def _nodes(self, client: httpx.AsyncClient, ids: Sequence[str]) -> dict[str, Any]:
        nodes = (await self._insist(client, VOTES, ids=list(ids)))["nodes"]  # type: ignore[arg-type]  # a list
        if None in nodes:
            raise WrongAnswer(f"lost: {[id for id, node in zip(ids, nodes, strict=True) if node is None]}")
        return {node["id"]: node for node in nodes}

    async def _timeline(self, client: httpx.AsyncClient, person: Person) -> AsyncIterator[str]:
        after = None
        while True:
            variables: dict[str, Any] = {"name": person.name, "after": after}
            articles = (await self._insist(client, TIMELINE, **variables))["user"]["articles"]
            for node in articles["nodes"]:
                yield node["title"]
            if not articles["pageInfo"]["hasNextPage"]:
                return
            after = articles["pageInfo"]["endCursor"]

    async def _verify_store(self) -> None:
        environment = os.environ | {"UPVOTE_DATA_DIR": str(self.server.data_dir)}
        verify = [sys.executable, "-m", "server", "verify"]
        done = await asyncio.to_thread(
            subprocess.run, verify, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
        )
        if done.returncode != 0:
            raise WrongAnswer(f"verify: {done.stdout} {done.stderr}")


def batches(items: list[str], size: int) -> Iterator[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def fill(path: Path) -> None:
    """Write until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(65_536))
    with suppress(OSError), path.open("ab", buffering=0) as file:
        while file.write(bytes(64)):
            pass


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """A folder on a file system of its own that a test can fill; None where this machine lets nobody make one."""
    folder = Path(tempfile.mkdtemp(prefix="upvote-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    is_mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield folder if is_mounted else None
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        shutil.rmtree(folder, ignore_errors=True)


def run(seconds: float, seed: int, only: Sequence[str] = FAULTS) -> Counter[str]:
    """
    Have each fault at least once, and go on for so many seconds. What happened is counted.

    Raises:
        WrongAnswer: something acknowledged is lost or doubled, or the server does not heal.
    """
    with small_disk() as disk, tempfile.TemporaryDirectory() as folder:
        if disk is None and "disk full" in only:
            raise WrongAnswer("no small file system can be mounted here, so that no disk can be full")
        chaos = Chaos(Server(disk or Path(folder)), seed)
        try:
            asyncio.run(chaos.run(seconds))
        finally:
            if chaos.server.process and chaos.server.process.poll() is None:
                chaos.server.process.terminate()
                chaos.server.process.wait()
        return chaos.done + chaos.reached


def main() -> None:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    for name, number in sorted(run(60 * chosen.minutes, chosen.seed).items()):
        print(f"{number:>9,}  {name}")


if __name__ == "__main__":
    main()
