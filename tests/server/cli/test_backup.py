"""
The commands `upvote backup`, which writes a whole store to a file, and `upvote restore`, which fills an empty one.

The fixtures `filled` and `empty` are the settings of a store of 300 articles and of one without any.
"""

import os
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

import httpx
import pytest

from server.cli.backup import back_up
from server.cli.backup_file import BrokenBackup
from server.cli.main import main
from server.cli.restore import batches, restore
from server.cli.verify import verify
from server.errors import CommandError
from server.managed_valkey import server
from server.settings import Settings
from store import keys
from store.errors import StoreMismatch
from store.maintenance.records.content import ArticleRecord, CommentRecord
from tests.server.commands import environment, run
from tests.server.conftest import POST, REGISTER, serving
from tests.servers import PATIENCE
from tests.store.reading import everything
from tests.support.stores import stored

UPVOTE = (sys.executable, "-m", "server")


@pytest.mark.one_server
def test_backup_and_restore_give_the_same_store(filled, empty, tmp_path, capsys):
    file = tmp_path / "backup"
    capsys.readouterr()
    assert back_up(filled, file) == 0
    assert restore(empty, file) == 0

    assert capsys.readouterr().out.splitlines() == [
        f"wrote 300 articles, 79 users to {file}",
        f"restored 300 articles, 79 users from {file}",
    ]
    assert stored(empty) == stored(filled)
    assert verify(empty, repair=False) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.one_server
@pytest.mark.slow
def test_file_with_a_missing_changed_or_additional_byte_is_refused(filled, empty, tmp_path):
    file = tmp_path / "backup"
    back_up(filled, file)
    whole = file.read_bytes()
    places = [*range(0, 64), *range(64, len(whole) - 64, len(whole) // 50), *range(len(whole) - 64, len(whole))]
    for place in places:
        file.write_bytes(whole[:place])
        assert_refused(empty, file)
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert_refused(empty, file)
    for wrong in (whole + b"\0", b"", b"\0" * 100, whole[::-1]):
        file.write_bytes(wrong)
        assert_refused(empty, file)

    file.write_bytes(whole)
    assert restore(empty, file) == 0


def assert_refused(empty: Settings, file: Path) -> None:
    """The file is not restored, not even a part of it."""
    with pytest.raises(BrokenBackup, match=str(file)):
        restore(empty, file)
    assert stored(empty) == {}


@pytest.mark.parametrize(("target", "named"), [("-", "standard output"), ("/dev/stdout", "/dev/stdout")])
def test_backup_goes_through_a_pipe(filled, empty, tmp_path, target, named):
    made, restored = (environment(redis_url=settings.redis_url, data_dir=tmp_path) for settings in (filled, empty))
    with subprocess.Popen(
        [*UPVOTE, "backup", target], env=made, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as backup:
        done = subprocess.run([*UPVOTE, "restore", "-"], env=restored, stdin=backup.stdout, capture_output=True)
        report = backup.stderr.read()

    assert (backup.returncode, report) == (0, f"wrote 300 articles, 79 users to {named}\n".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"restored 300 articles, 79 users from standard input\n"
    assert stored(empty) == stored(filled)
    assert Path("/dev/stdout").is_symlink()


def test_pipe_that_is_cut_off_is_refused(filled, empty, tmp_path):
    back_up(filled, tmp_path / "backup")
    cut = (tmp_path / "backup").read_bytes()[:-1]

    done = subprocess.run(
        [*UPVOTE, "restore", "-"], env=environment(redis_url=empty.redis_url), input=cut, capture_output=True
    )

    assert (done.returncode, done.stderr) == (2, b"upvote: standard input was changed or cut off\n")
    assert stored(empty) == {}


def test_pipe_with_a_name_is_written_and_read_in_place(filled, empty, tmp_path, capsys):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    capsys.readouterr()
    writing = threading.Thread(target=back_up, args=(filled, link))
    writing.start()

    assert restore(empty, link) == 0
    writing.join()
    assert capsys.readouterr() == (
        f"restored 300 articles, 79 users from {link}\n",
        f"wrote 300 articles, 79 users to {link}\n",
    )
    assert (link.readlink(), pipe.is_fifo()) == (pipe, True)
    assert stored(empty) == stored(filled)


def test_terminal_gets_no_backup(filled):
    controller, terminal = os.openpty()
    path = Path(os.ttyname(terminal))
    try:
        with pytest.raises(CommandError, match=f"{path} is a terminal"):
            back_up(filled, path)
        assert path.is_char_device()
    finally:
        os.close(controller)
        os.close(terminal)


def test_store_in_use_is_not_restored_into(filled, tmp_path, redis):
    back_up(filled, tmp_path / "backup")
    before = everything(redis)

    with pytest.raises(StoreMismatch, match="not empty"):
        restore(filled, tmp_path / "backup")
    assert everything(redis) == before


def test_failed_backup_leaves_the_previous_file(filled, tmp_path, monkeypatch):
    file = tmp_path / "backup"
    back_up(filled, file)
    before = file.read_bytes()

    def full(*_: object) -> None:
        raise OSError("no space is left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        back_up(filled, file)
    assert file.read_bytes() == before
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.slow
def test_backup_of_a_running_server_has_all_earlier_writes(tmp_path):
    vote = "mutation($id: ID!, $value: VoteValue!) { vote(input: {articleId: $id, value: $value}) { changed } }"
    with serving(tmp_path / "data") as live:
        alice = live.ask(REGISTER)["data"]["register"]["token"]
        bob = live.ask(REGISTER.replace("alice", "bob"))["data"]["register"]["token"]
        before = [live.ask(POST, alice, title=f"{n}")["data"]["post"]["article"]["id"] for n in range(20)]
        for article in before:
            live.ask(vote, bob, id=article, value="UP")
        done = threading.Event()
        posting = threading.Thread(target=post_until, args=(live.url, alice, done))
        posting.start()
        made = run("backup", tmp_path / "backup", data_dir=tmp_path / "data")
        done.set()
        posting.join()

    assert (made.returncode, made.stderr) == (0, "")
    copy = Settings(data_dir=tmp_path / "copy", partitions=16)
    assert restore(copy, tmp_path / "backup") == 0
    assert verify(copy, repair=False) == 0
    with server.running(copy.data_dir) as url:
        there = stored(Settings(redis_url=url))
    numbers = [int(article.removeprefix("article:")) for article in before]
    articles = [there[keys.article(number % 16, number)] for number in numbers]
    assert {article["up"] for article in articles} == {"2"}
    assert there[keys.user(keys.slot("alice") % 16, "alice")]["karma"] == "20"
    assert not any(key.startswith("session") for key in there)


def post_until(url: str, token: str, done: threading.Event) -> None:
    """Post one article after another until `done` is set, or the server refuses one."""
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as client:
        for number in count(1_000):
            post = {"query": POST, "variables": {"title": f"{number}"}}
            if done.is_set() or not client.post(f"{url}/graphql", json=post).is_success:
                return


@pytest.mark.parametrize("kind", [ArticleRecord, CommentRecord])
def test_records_with_many_voters_are_restored_in_smaller_batches(kind):
    many = ["voter"] * 15_000
    records = [kind(number, fields={}, upvoters=many, downvoters=many) for number in range(5)]

    assert [len(batch) for batch in batches(records)] == [2, 2, 1]  # a batch ends at 50,000 voters


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "upvote: {}/nonsense is not a backup, or was made by another version of Upvote"),
        (["nonsense", "--partitions", "3"], "upvote: UPVOTE_PARTITIONS=3: "),
        (["nothing"], "upvote: [Errno 2] No such file or directory: '{}/nothing'"),
    ],
)
def test_command_reports_its_error(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UPVOTE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "nonsense").write_text("nonsense")

    assert main(["restore", str(tmp_path / arguments[0]), *arguments[1:]]) == 2
    assert capsys.readouterr().err.startswith(message.format(tmp_path))
    assert not (tmp_path / "data").exists()


def test_backup_is_restored_into_an_empty_managed_store(tmp_path, filled):
    back_up(filled, tmp_path / "backup")
    own = Settings(data_dir=tmp_path / "data", partitions=4)

    assert restore(own, tmp_path / "backup") == 0
    assert verify(own, repair=False) == 0


def test_running_managed_valkey_is_used_and_not_started_again(tmp_path):
    with server.running(tmp_path) as url, server.joined(tmp_path) as same:
        assert same == url
    with server.joined(tmp_path) as another:
        assert another != url
