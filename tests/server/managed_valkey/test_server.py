"""The managed Valkey, which a server starts itself, is kept running, and loses no acknowledged write when killed."""

import errno
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from server.managed_valkey import server, supervisor
from server.managed_valkey.server import DataInUse, ValkeyFailed, ValkeyOptions
from tests.server.conftest import POST, REGISTER, serving
from tests.servers import until


def kill(redis: "Redis") -> None:
    os.kill(redis.info("server")["process_id"], signal.SIGKILL)


def answers(redis: "Redis") -> bool:
    try:
        return bool(redis.ping())
    except RedisError:
        return False


@contextmanager
def counting(url: str, writers: int) -> Iterator[list[int]]:
    """Count in several threads until the server ends; yields the last reply of each thread."""
    answered = [0] * writers

    def count(writer: int) -> None:
        with Redis.from_url(url) as redis:
            try:
                while True:
                    answered[writer] = redis.incr(f"count:{writer}")
            except RedisError:
                pass

    threads = [threading.Thread(target=count, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    yield answered
    for thread in threads:
        thread.join()


def test_command_joins_a_valkey_that_is_restarted_while_it_waits(tmp_path):
    address = tmp_path / "address"
    with server.running(tmp_path) as url:
        running = address.read_text()
        address.write_text(str(tmp_path / "nobody listens here"))
        restarted = threading.Timer(0.5, address.write_text, [running])
        restarted.start()

        with server.joined(tmp_path) as joined_url:
            assert joined_url == url
            assert answers(Redis.from_url(joined_url))

        restarted.join()
        assert answers(Redis.from_url(url))


def test_command_is_refused_beside_a_server_whose_valkey_does_not_come_back(tmp_path):
    with server.running(tmp_path):
        (tmp_path / "address").write_text(str(tmp_path / "nobody listens here"))

        with pytest.raises(DataInUse, match="another server uses the data in"), server.joined(tmp_path):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="without glibc there is nothing to tune")
@pytest.mark.parametrize("given", [None, "glibc.malloc.tcache_count=9"])
def test_valkey_keeps_small_chunks_of_memory_at_hand_unless_told_otherwise(tmp_path, monkeypatch, given):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if given:
        monkeypatch.setenv("GLIBC_TUNABLES", given)
    with server.running(tmp_path) as url, Redis.from_url(url) as redis:
        of_valkey = Path(f"/proc/{redis.info('server')['process_id']}/environ").read_text()
    wanted = given or supervisor.TUNABLES["GLIBC_TUNABLES"]
    assert f":GLIBC_TUNABLES={wanted}:" in ":" + of_valkey.replace("\0", ":")  # glibc may write NULs into it


@pytest.mark.parametrize("durability", ["everysec", "always"])
def test_killed_valkey_is_restarted_with_all_acknowledged_writes(tmp_path, durability):
    with server.running(tmp_path, ValkeyOptions(durability=durability)) as url, Redis.from_url(url) as redis:
        with counting(url, writers=4) as answered:
            until(lambda: min(answered) > 500)
            kill(redis)
        until(lambda: answers(redis))
        kept = [int(redis.get(f"count:{writer}")) for writer in range(4)]

    assert all(found >= count for found, count in zip(kept, answered, strict=True))


def test_writes_are_on_the_disk_within_a_second(tmp_path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}")) or real(file))

    with server.running(tmp_path) as url, Redis.from_url(url) as redis:
        assert redis.config_get("appendfsync") == {"appendfsync": "no"}
        until(lambda: any(name.endswith(".incr.aof") for name in synced))


def test_with_always_writes_are_synced_before_they_are_acknowledged(tmp_path):
    with server.running(tmp_path, ValkeyOptions(durability="always")) as url, Redis.from_url(url) as redis:
        assert redis.config_get("appendfsync") == {"appendfsync": "always"}


def test_hash_with_the_text_of_a_comment_is_compact_also_an_older_one(tmp_path):
    text = "x" * server.COMPACT_VALUE
    with server.running(tmp_path) as url, Redis.from_url(url, decode_responses=True) as redis:
        redis.hset("comment", "content", text)
        redis.config_set("hash-max-listpack-value", 64)
        redis.hset("older", "content", text)
        assert [redis.object("encoding", key) for key in ("comment", "older")] == ["listpack", "hashtable"]

    with server.running(tmp_path) as url, Redis.from_url(url, decode_responses=True) as redis:
        assert redis.object("encoding", "older") == "listpack"


def test_append_only_file_is_rewritten_at_exit(tmp_path):
    with server.running(tmp_path) as url, Redis.from_url(url) as redis:
        for count in range(50):
            redis.set("a key", f"{count:0100000}")
    size = sum(file.stat().st_size for file in (tmp_path / server.APPEND_ONLY_FOLDER).iterdir())

    assert size < 200_000
    with server.running(tmp_path) as url, Redis.from_url(url) as redis:
        assert redis.get("a key") == b"%0100000d" % 49


def test_data_that_cannot_be_loaded_stops_the_start(tmp_path):
    break_data(tmp_path)

    with pytest.raises(ValkeyFailed, match="does not start"), server.running(tmp_path):
        pass


def test_valkey_that_cannot_be_restarted_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", 0.1)
    failed = threading.Event()
    with (
        pytest.raises(ValkeyFailed, match="does not start"),
        server.running(tmp_path, ValkeyOptions(on_failure=failed.set)) as url,
        Redis.from_url(url) as redis,
    ):
        redis.set("a key", "a value")
        break_data(tmp_path)
        kill(redis)
        assert failed.wait(30)


def break_data(data_dir: Path) -> None:
    """Make the data unreadable for Valkey: the manifest of the append-only file is not valid."""
    folder = data_dir / server.APPEND_ONLY_FOLDER
    folder.mkdir(exist_ok=True)
    (folder / "appendonly.aof.manifest").write_text("nonsense\n")


@pytest.mark.slow
def test_server_whose_valkey_cannot_be_restarted_ends_with_an_error(tmp_path):
    with serving(tmp_path) as live:
        break_data(tmp_path)
        with Redis(unix_socket_path=(tmp_path / "address").read_text()) as redis:
            kill(redis)

        assert live.process.wait(60) == 2
        assert f"upvote: Valkey does not start; see {tmp_path}/valkey.log" in live.errors.read_text()


def test_sync_continues_after_files_could_not_be_opened(tmp_path, monkeypatch, caplog):
    failures = [OSError(errno.EMFILE, "Too many open files") for _ in range(2)]
    listed = os.listdir

    def list_folder(folder):
        if failures and tmp_path in Path(folder).parents:  # other servers of the tests sync their folders, too
            raise failures.pop()
        return listed(folder)

    monkeypatch.setattr(os, "listdir", list_folder)

    with server.running(tmp_path):
        until(lambda: len(caplog.messages) >= 2)

    assert caplog.messages[:2] == [
        "writes cannot be synced to the disk: [Errno 24] Too many open files",
        "writes are synced to the disk again",
    ]


def test_valkey_is_restarted_once_processes_are_available_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", 0.1)
    failures = [BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable") for _ in range(5)]
    start = supervisor._start

    def start_later(*given):
        if failures:
            raise failures.pop()
        return start(*given)

    with server.running(tmp_path) as url, Redis.from_url(url) as redis:
        redis.set("a key", "a value")
        monkeypatch.setattr(supervisor, "_start", start_later)
        kill(redis)
        until(lambda: answers(redis))

        assert redis.get("a key") == b"a value"
    assert caplog.messages.count("Valkey cannot be started: Resource temporarily unavailable") == 5


def test_start_without_processes_is_logged(tmp_path, monkeypatch, caplog):
    def start(*given):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(supervisor, "_start", start)

    with pytest.raises(ValkeyFailed), server.running(tmp_path):
        pass
    assert caplog.messages == ["Valkey cannot be started: Resource temporarily unavailable"]


@pytest.mark.slow
def test_server_recovers_once_file_descriptors_are_available_again(tmp_path):
    with serving(tmp_path, max_connections=5_000) as live:
        process = live.process.pid
        token = live.ask(REGISTER)["data"]["register"]["token"]
        before = resource.prlimit(process, resource.RLIMIT_NOFILE)
        with Redis(unix_socket_path=(tmp_path / "address").read_text()) as redis:
            resource.prlimit(process, resource.RLIMIT_NOFILE, (3, before[1]))
            kill(redis)
            host, port = live.url.removeprefix("http://").split(":")
            with ExitStack() as opened:
                for _ in range(20):
                    opened.enter_context(socket.create_connection((host, int(port))))
                until(lambda: live.logged(event="Valkey cannot be started: Too many open files"))
            resource.prlimit(process, resource.RLIMIT_NOFILE, before)
            until(lambda: answers(redis))
        post = live.ask(POST, token)
        shown = live.metrics()

        assert post["data"]["post"]["article"]["id"]
        assert shown['upvote_log_records_total{level="error"}'] >= 2
        assert live.stop() == 0
