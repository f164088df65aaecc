"""
A log that cannot be written, or that nobody reads: requests are answered as usual, and `/readyz` and the metrics
report it.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest

from server.observability.log_stream import LogStream
from tests.server.commands import ROOT, environment
from tests.server.conftest import POST, REGISTER, serving
from tests.servers import free_port, until

PAGE = "{ articles { nodes { title votes } } }"
DROPPED = "upvote_log_lines_dropped_total"
# programs that run in processes of their own
FAILING = """
import logging, sys, threading, warnings
from server.observability.log_stream import install_stream

stream = install_stream()
print("printed", file=sys.stderr)
warnings.warn("a warning")
logging.getLogger("any").error("of the last resort")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
if stream.dropped < 4:  # the print, the warning, the log line and the error of the thread
    sys.exit(2)
1 / 0  # exit code 1
"""
CLOSED = """
import os, sys
from server.observability.log_stream import install_stream

install_stream()
print("a line", file=sys.stderr)
print(os.readlink("/proc/self/fd/2"))
"""
FLOOD = """
import sys
from server.observability import logs
from server.observability.log_stream import install_stream
from server.settings import Settings

stream = install_stream()
logs.configure(Settings(log_format="json"))
for number in range(20_000):
    stream.add(b'{"event": "line", "number": %d, "filling": "%b"}\\n' % (number, b"x" * 80))
print("written", flush=True)
stream.drain(60)
"""
NUMBERED = """
import sys
from server.observability.log_stream import install_stream

stream = install_stream()
for number in range(3_000):
    stream.add(b"%b %d %b\\n" % (sys.argv[1].encode(), number, sys.argv[1].encode() * (number % 500)))
    if number % 100 == 0:
        print(sys.argv[1], number, sys.argv[1] * 300, file=sys.stderr)
stream.drain(60)
"""


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """The ends of a pipe that holds 4096 bytes."""
    ends = os.pipe()
    fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
    try:
        yield ends
    finally:
        for end in ends:
            with suppress(OSError):
                os.close(end)


def fill(end: int) -> None:
    """Write until nothing more fits."""
    os.set_blocking(end, False)
    for piece in (b"x" * 1023 + b"\n", b"\n"):
        with suppress(BlockingIOError):
            while True:
                os.write(end, piece)
    os.set_blocking(end, True)


def read_all(end: int) -> bytes:
    """What comes until all writers are gone."""
    return b"".join(iter(lambda: os.read(end, 65_536), b""))


@contextmanager
def full() -> Iterator[int]:
    """A file descriptor to which nothing can be written, as on a full disk."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@contextmanager
def closed() -> Iterator[int]:
    """A file descriptor of a pipe whose reader is gone."""
    with pipe() as (reader, writer):
        os.close(reader)
        yield writer


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("unwritable", [full, closed])
def test_log_that_cannot_be_written_changes_no_answer(tmp_path, unwritable, workers):
    with unwritable() as stderr, serving(tmp_path, stderr=stderr, workers=workers) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        assert "errors" not in live.ask(POST, token)
        pages = [live.post({"query": PAGE}) for _ in range(10)]
        broken = live.post({"query": "{"})
        readiness = list[httpx.Response]()
        until(lambda: readiness.append(httpx.get(f"{live.url}/readyz")) or readiness[-1].is_success)
        until(lambda: live.metrics()[DROPPED] >= 13)  # the requests, whose lines are written a moment later
        code = live.stop()

    assert {page.status_code for page in pages} == {200}
    assert broken.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_PARSE_FAILED"
    log = readiness[-1].json()["log"]
    assert log.startswith("cannot be written: ") or workers == 2  # the worker that answers may have logged nothing
    assert code == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_log_that_nobody_reads_delays_no_answer_and_is_written_later(tmp_path, workers):
    with pipe() as (reader, writer):
        fill(writer)
        with serving(tmp_path, stderr=writer, workers=workers) as live:
            os.close(writer)
            pages = [live.post({"query": PAGE}, {"x-request-id": f"unread-{n}"}) for n in range(30)]
            until(lambda: httpx.get(f"{live.url}/readyz").is_success)
            ready = httpx.get(f"{live.url}/readyz")
            written: list[bytes] = []
            thread = threading.Thread(target=lambda: written.append(read_all(reader)))
            thread.start()
            assert live.stop() == 0
            thread.join()

    assert {page.status_code for page in pages} == {200}
    assert ready.json().items() >= {"status": "ok", "store": "answers"}.items()
    lines = [line for line in written[0].split(b"\n") if b"unread-" in line]
    assert all(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    assert len(lines) == 30


def test_server_that_stops_does_not_wait_for_a_reader(tmp_path):
    with pipe() as (_, writer):
        fill(writer)
        with serving(tmp_path, stderr=writer) as live:
            live.ask(PAGE)
            assert live.stop() == 0


def test_server_starts_although_its_addresses_cannot_be_printed(tmp_path):
    port = free_port()
    with full() as unwritable, (tmp_path / "log").open("wb") as log:
        settings = environment(port=port, data_dir=tmp_path)
        command = [sys.executable, "-m", "server", "serve"]
        process = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=unwritable, stderr=log)
        try:
            until(lambda: _is_ready(port))
        finally:
            process.terminate()
            code = process.wait()

    assert code == 0
    assert f"cannot print the address http://127.0.0.1:{port}" in (tmp_path / "log").read_text()


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").is_success
    except httpx.TransportError:
        return False


def test_more_than_the_queue_holds_is_dropped_and_counted():
    with pipe() as (reader, writer):
        fill(writer)
        counted: list[int] = []
        stream = LogStream(writer, max_queued=500)
        stream.on_dropped = counted.append
        for number in range(100):
            stream.write(f"line {number:04}\n")
        assert (stream.fault, stream.dropped) == ("it is not read", sum(counted))
        kept = 100 - stream.dropped
        assert 0 < kept <= 51  # lines of ten bytes: 500 bytes of them, and one that is being written
        os.set_blocking(reader, False)
        until(lambda: b"line 0000" in os.read(reader, 65_536))
        stream.drain()
        stream.write("afterwards\n")

        assert stream.fault is None
        assert os.read(reader, 65_536).endswith(b"afterwards\n")
        os.close(writer)


def test_lines_keep_their_order_while_the_reader_is_slow():
    with pipe() as (reader, writer):
        stream = LogStream(writer)
        for number in range(2000):
            stream.write(f"line {number}\n")
        read = b""
        while not read.endswith(b"line 1999\n"):
            read += os.read(reader, 100)

    assert read.decode().splitlines() == [f"line {number}" for number in range(2000)]
    assert stream.dropped == 0


def test_gathered_lines_are_made_and_written_together():
    with pipe() as (reader, writer):
        stream = LogStream(writer)
        gathered = deque()

        def lines():
            while gathered:
                yield gathered.popleft()

        for number in range(3):
            gathered.append(b"line %d\n" % number)
            stream.add_later(lines)

        assert os.read(reader, 100) == b"line 0\nline 1\nline 2\n"
        assert not gathered


@pytest.mark.parametrize("write", [lambda stream: stream.write("at once\n"), lambda stream: stream.add(b"at once\n")])
def test_line_that_is_written_at_once_follows_those_gathered_before(write):
    with pipe() as (reader, writer):
        stream = LogStream(writer)
        stream.add_later(lambda: [b"gathered\n"])
        write(stream)
        stream.add_later(lambda: [b"gathered later\n"])
        os.set_blocking(reader, False)

        assert os.read(reader, 100) == b"gathered\nat once\n"


def test_gathered_lines_are_written_before_the_process_ends():
    with pipe() as (reader, writer):
        stream = LogStream(writer)
        stream.add_later(lambda: [b"gathered\n"])
        stream.drain()
        os.set_blocking(reader, False)

        assert os.read(reader, 100) == b"gathered\n"


def test_gathered_lines_wait_for_a_slow_reader():
    lines = [b"line %d\n" % number for number in range(20_000)]  # more than the pipe holds
    with pipe() as (reader, writer):
        stream = LogStream(writer)
        for start in range(0, len(lines), 100):
            stream.add_later(lambda start=start: lines[start : start + 100])
            stream.flush()
        read = b""
        while not read.endswith(lines[-1]):
            read += os.read(reader, 10_000)

    assert read == b"".join(lines)
    assert stream.dropped == 0


def test_log_says_how_many_lines_were_dropped():
    program = [sys.executable, "-c", FLOOD]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"written\n"
        assert process.stderr
        lines = [json.loads(line) for line in process.stderr]

    notes = [line["event"] for line in lines if line["event"] != "line"]
    numbers = [line["number"] for line in lines if line["event"] == "line"]
    assert numbers == list(range(len(numbers)))
    assert 0 < len(numbers) < 20_000
    assert notes == [f"lines of the log dropped since the process started: {20_000 - len(numbers)}"]


def test_lines_of_two_processes_do_not_mix():
    with pipe() as (reader, writer):
        programs = [[sys.executable, "-c", NUMBERED, name] for name in "ab"]
        processes = [subprocess.Popen(program, cwd=ROOT, stderr=writer) for program in programs]
        os.close(writer)
        lines = read_slowly(reader).decode().splitlines()
        assert [process.wait() for process in processes] == [0, 0]

    assert all(set(line) <= {line[0], " ", *"0123456789"} for line in lines)
    for name in "ab":
        numbers = [int(line.split()[1]) for line in lines if line[0] == name]
        assert sorted(set(numbers)) == list(range(3_000))
        assert numbers == sorted(numbers)


def read_slowly(end: int) -> bytes:
    pieces = []
    while piece := os.read(end, 10_000):
        pieces.append(piece)
        time.sleep(0.0005)
    return b"".join(pieces)


@pytest.mark.parametrize("workers", [1, 2])
def test_server_that_stops_loses_no_line(tmp_path, workers):
    with serving(tmp_path, workers=workers) as live:
        for number in range(30):
            live.post({"query": PAGE}, {"x-request-id": f"stopped-{number}"})
        assert live.stop() == 0
        ids = {line.get("request_id") for line in live.logged()}

    assert {f"stopped-{number}" for number in range(30)} <= ids


def test_killed_server_loses_at_most_the_lines_of_a_second(tmp_path):
    answered = {}
    with serving(tmp_path) as live:
        started = time.monotonic()
        while time.monotonic() < started + 2.5:
            live.post({"query": PAGE}, {"x-request-id": f"killed-{len(answered)}"})
            answered[f"killed-{len(answered)}"] = time.monotonic()
        killed = time.monotonic()
        live.stop(signal.SIGKILL)
        ids = {line.get("request_id") for line in live.logged()}

    old = {name for name, at in answered.items() if at < killed - 1}
    assert len(old) > 10
    assert old <= ids


def test_pieces_of_a_line_are_written_as_one():
    with pipe() as (reader, writer):
        stream = LogStream(writer)
        print("a", "line", file=stream)

        assert os.read(reader, 100) == b"a line\n"


def test_socket_is_not_waited_for():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stream = LogStream(ours.fileno())
        stream.write("a line\n")
        assert theirs.recv(100) == b"a line\n"
        theirs.close()
        stream.write("another\n")

    assert stream.fault == "Broken pipe"


def test_other_users_of_the_same_pipe_still_block():
    with pipe() as (_, writer):
        LogStream(writer).write("a line\n")

        assert os.get_blocking(writer)


def test_line_after_an_incomplete_one_begins_on_a_new_line(tmp_path):
    file = tmp_path / "log"
    with file.open("wb") as log:
        stream = LogStream(log.fileno())
        real, stream._write_now = stream._write_now, _disk_full_after_three_bytes(stream)
        stream.write("a line\n")
        stream._write_now = real
        stream.write("another\n")

    assert file.read_text() == "a l\nanother\nlines dropped: 1\n"
    assert stream.dropped == 1


def _disk_full_after_three_bytes(stream: LogStream):
    pieces = iter([3])

    def write(data: bytes) -> int:
        for size in pieces:
            return os.write(stream.fileno(), data[:size])
        raise OSError(28, "No space left on device")

    return write


def test_lines_of_python_itself_are_dropped_likewise():
    with full() as descriptor:
        failing = subprocess.run([sys.executable, "-c", FAILING], stderr=descriptor, timeout=60)

    assert failing.returncode == 1


def test_closed_standard_error_is_replaced_by_the_null_device(tmp_path):
    """Otherwise the next file that is opened would get descriptor 2, and the log with it."""
    program = f"import os; os.close(2); os.execv({sys.executable!r}, [{sys.executable!r}, '-c', {CLOSED!r}])"
    closed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    assert closed.stdout == "/dev/null\n"
