"""Our own Valkey: that it is kept running, and that what it acknowledged is there whenever it is killed."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from server import keeping, valkey
from server.valkey import ValkeyFailed
from tests.server.conftest import serving
from tests.servers import until


def ended(redis: "Redis") -> None:
    os.kill(redis.info("server")["process_id"], signal.SIGKILL)


def answers(redis: "Redis") -> bool:
    try:
        return bool(redis.ping())
    except RedisError:
        return False


@contextmanager
def counting(url: str, writers: int) -> Iterator[list[int]]:
    """What each of some writers was last answered, who count until the server is gone."""
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


@pytest.mark.parametrize("durability", ["everysec", "always"])
def test_killed_valkey_comes_back_with_all_that_was_answered(tmp_path, durability):
    with valkey.running(tmp_path, durability) as url, Redis.from_url(url) as redis:
        with counting(url, writers=4) as answered:
            until(lambda: min(answered) > 500)
            ended(redis)
        until(lambda: answers(redis))
        kept = [int(redis.get(f"count:{writer}")) for writer in range(4)]

    assert all(there >= told for there, told in zip(kept, answered, strict=True))


def test_writes_are_on_the_disk_within_a_second(tmp_path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}")) or real(file))

    with valkey.running(tmp_path) as url, Redis.from_url(url) as redis:
        assert redis.config_get("appendfsync") == {"appendfsync": "no"}
        until(lambda: any(name.endswith(".incr.aof") for name in synced))


def test_always_means_before_it_is_answered(tmp_path):
    with valkey.running(tmp_path, "always") as url, Redis.from_url(url) as redis:
        assert redis.config_get("appendfsync") == {"appendfsync": "always"}


def test_long_log_is_short_at_the_next_start(tmp_path):
    with valkey.running(tmp_path) as url, Redis.from_url(url) as redis:
        for count in range(50):
            redis.set("a key", f"{count:0100000}")
    left = sum(file.stat().st_size for file in (tmp_path / valkey.LOG_FOLDER).iterdir())

    assert left < 200_000
    with valkey.running(tmp_path) as url, Redis.from_url(url) as redis:
        assert redis.get("a key") == b"%0100000d" % 49


def test_data_that_cannot_be_loaded_stops_the_start(tmp_path):
    broken(tmp_path)

    with pytest.raises(ValkeyFailed, match="does not start"), valkey.running(tmp_path):
        pass


def test_valkey_that_does_not_start_again_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "PAUSE", 0.1)
    told = threading.Event()
    with (
        pytest.raises(ValkeyFailed, match="does not start"),
        valkey.running(tmp_path, given_up=told.set) as url,
        Redis.from_url(url) as redis,
    ):
        redis.set("a key", "a value")
        broken(tmp_path)
        ended(redis)
        assert told.wait(30)


def broken(data_dir: Path) -> None:
    """Data that no Valkey takes: a manifest that names nothing."""
    folder = data_dir / valkey.LOG_FOLDER
    folder.mkdir(exist_ok=True)
    (folder / "appendonly.aof.manifest").write_text("nonsense\n")


def test_server_whose_valkey_does_not_start_again_ends_and_says_so(tmp_path):
    with serving(tmp_path) as live:
        broken(tmp_path)
        with Redis(unix_socket_path=(tmp_path / "address").read_text()) as redis:
            ended(redis)

        assert live.process.wait(60) == 2
        assert f"upvote: Valkey does not start; see {tmp_path}/valkey.log" in live.errors.read_text()
