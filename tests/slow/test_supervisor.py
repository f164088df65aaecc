"""Several workers: connections are spread over them, those that end are replaced, and all end with their parent."""

import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import httpx
import pytest

from tests.server.commands import ROOT, environment
from tests.server.conftest import serving
from tests.servers import free_port, until
from tests.support.faults import valkey_of
from tests.support.metrics import family, of
from tests.support.processes import processes_of, workers_of

MOMENTS = 12  # at which a starting server is killed
PAGE = "{ articles { totalCount } }"


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_outlives_a_server_that_is_killed_at_any_moment(tmp_path, workers):
    port = free_port()
    settings = environment(port=port, data_dir=tmp_path, workers=workers, rate_limits="off")
    with (tmp_path / "errors").open("wb") as errors:
        for number in range(MOMENTS):
            command = [sys.executable, "-m", "server", "serve"]
            process = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=errors, stderr=errors)
            time.sleep((number + random.random()) * 2.4 / MOMENTS)  # spread over the start
            assert process.poll() is None, (tmp_path / "errors").read_text()
            process.kill()
            process.wait()
    with serving(tmp_path, port=port, workers=workers) as live:
        assert live.ask(PAGE) == {"data": {"articles": {"totalCount": 0}}}
        live.stop(signal.SIGKILL)
        until(lambda: processes_of(tmp_path) == [])
    with serving(tmp_path, port=port, workers=workers) as live:
        assert live.ask(PAGE) == {"data": {"articles": {"totalCount": 0}}}


def test_workers_of_a_killed_server_end_at_once_and_its_address_is_free(tmp_path):
    port = free_port()
    with serving(tmp_path, port=port, workers=3) as live:
        live.stop(signal.SIGKILL)
        with serving(tmp_path, port=port, workers=3) as next_one:
            assert next_one.ask(PAGE) == {"data": {"articles": {"totalCount": 0}}}


def test_connections_are_spread_over_the_workers_and_shown(tmp_path):
    with serving(tmp_path, workers=2) as live, ExitStack() as opened:
        until(lambda: len(family(live.metrics(), "upvote_open_connections")) == 2)
        address = live.url.removeprefix("http://").split(":")
        for _ in range(60):
            opened.enter_context(socket.create_connection((address[0], int(address[1]))))
        until(lambda: sum(family(live.metrics(), "upvote_open_connections").values()) >= 60)
        shown = family(live.metrics(), "upvote_open_connections")

    names = [of("upvote_open_connections", worker=number) for number in (1, 2)]
    assert sorted(shown) == names
    assert min(shown.values()) >= 5  # by chance there are fewer once in 10 ** 12 runs


def test_worker_that_is_killed_is_replaced(tmp_path):
    with serving(tmp_path, workers=2) as live:
        until(lambda: len(workers_of(live, tmp_path)) == 2)
        before = set(workers_of(live, tmp_path))
        killed = before.pop()
        os.kill(killed, signal.SIGKILL)
        until(lambda: len(set(workers_of(live, tmp_path)) - {killed}) == 2)
        answers = [live.post({"query": PAGE}) for _ in range(20)]

        assert {answer.status_code for answer in answers} == {200}
        assert live.stop() == 0


@pytest.mark.timeout(240)
def test_worker_that_cannot_start_while_valkey_does_not_answer_is_started_again(tmp_path):
    with serving(tmp_path, workers=2) as live:
        until(lambda: len(family(live.metrics(), "upvote_open_connections")) == 2)  # both have started once
        killed = workers_of(live, tmp_path)[0]
        stopped = valkey_of(tmp_path)
        os.kill(stopped, signal.SIGSTOP)
        try:
            os.kill(killed, signal.SIGKILL)
            until(lambda: "does not start and is started again" in live.errors.read_text(), 90)
        finally:
            os.kill(stopped, signal.SIGCONT)
        until(lambda: len(set(workers_of(live, tmp_path)) - {killed}) == 2)
        until(lambda: live.post({"query": PAGE}).status_code == 200)

        assert live.stop() == 0


@pytest.mark.timeout(240)
def test_worker_that_is_starting_ends_at_once_with_its_parent(tmp_path):
    """Valkey does not answer. A worker that waited until it gives up would log that, and hold the address meanwhile."""
    with serving(tmp_path, workers=2) as live:
        until(lambda: len(family(live.metrics(), "upvote_open_connections")) == 2)
        before, stopped = set(processes_of(tmp_path)), valkey_of(tmp_path)
        os.kill(stopped, signal.SIGSTOP)
        try:
            os.kill(workers_of(live, tmp_path)[0], signal.SIGKILL)
            until(lambda: set(processes_of(tmp_path)) - before)
            time.sleep(3)  # in which it has imported the server
            given_up = live.errors.read_text().count("Application startup failed")
            live.stop(signal.SIGKILL)
            until(lambda: not set(processes_of(tmp_path)) - before)
        finally:
            os.kill(stopped, signal.SIGCONT)

        assert live.errors.read_text().count("Application startup failed") == given_up


def test_second_server_with_workers_does_not_share_the_address(tmp_path):
    port = free_port()
    with serving(tmp_path / "first", port=port, workers=2):
        command = [sys.executable, "-m", "server", "serve"]
        settings = environment(port=port, data_dir=tmp_path / "second", workers=2)
        second = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=60)

    assert second.returncode == 2
    assert second.stderr == f"upvote: UPVOTE_HOST=127.0.0.1, UPVOTE_PORT={port}: Address already in use\n"


def test_server_of_several_workers_stops_at_a_signal(tmp_path):
    with serving(tmp_path, workers=2) as live:
        httpx.get(f"{live.url}/healthz")

        assert live.stop(signal.SIGINT) == 0
        until(lambda: processes_of(tmp_path) == [])


def test_worker_that_hangs_is_replaced(tmp_path):
    with serving(tmp_path, workers=2) as live:
        until(lambda: len(workers_of(live, tmp_path)) == 2)
        hanging = workers_of(live, tmp_path)[0]
        os.kill(hanging, signal.SIGSTOP)
        until(lambda: hanging not in workers_of(live, tmp_path))
        until(lambda: len(workers_of(live, tmp_path)) == 2)

        assert live.post({"query": PAGE}).status_code == 200


def test_worker_is_replaced_once_file_descriptors_are_available_again(tmp_path):
    with serving(tmp_path, workers=2) as live:
        until(lambda: len(workers_of(live, tmp_path)) == 2)
        killed = workers_of(live, tmp_path)[0]
        before = resource.prlimit(live.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(live.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        os.kill(killed, signal.SIGKILL)
        until(lambda: "cannot be started: Too many open files" in live.errors.read_text())
        resource.prlimit(live.process.pid, resource.RLIMIT_NOFILE, before)
        until(lambda: len(set(workers_of(live, tmp_path)) - {killed}) == 2)
        answers = [live.post({"query": PAGE}) for _ in range(20)]
        until(lambda: live.metrics()['upvote_log_records_total{level="error"}'] >= 2)

        assert {answer.status_code for answer in answers} == {200}
        assert live.stop() == 0
