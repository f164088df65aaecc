"""The command `upvote import`, with files of stories."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from server.cli.import_stories import ImportOptions, import_stories
from server.cli.story_file import NotStories
from server.managed_valkey import server
from server.settings import Settings
from store import log
from store.maintenance.import_stories import import_batch
from store.site import unix_milliseconds
from store.store import Store
from tests.server.commands import run
from tests.server.conftest import HEADER, line, serving
from tests.store.reading import everything

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

SUMMARY = re.compile(
    r"imported (\d+), already known (\d+), bad lines (\d+), new users (\d+), groups (\d+), \d+\.\d seconds, "
    r"\d+ a second\n"
)
DAY = 86_400_000  # milliseconds


@pytest.fixture
def settings(redis_url: str, partitions: int) -> Settings:
    return Settings(redis_url=redis_url, partitions=partitions)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """1,200 stories, one an hour, the newest first; each seventh is an "Ask HN", each of 30 users posts 40."""
    file = tmp_path / "stories.csv"
    file.write_text(HEADER + "".join(map(line, reversed(range(1200)))))
    return file


def test_each_author_follows_the_next_authors_by_name(settings, file, redis, capsys):
    import_stories(settings, [file], ImportOptions(follow=3))
    import_stories(settings, [file], ImportOptions(follow=3))

    assert "30 users follow 3 others each" in capsys.readouterr().out
    following = {key.rpartition(":")[2]: redis.zrange(key, 0, -1) for key in redis.scan_iter("following:*")}
    followers = {key.rpartition(":")[2]: redis.zrange(key, 0, -1) for key in redis.scan_iter("followers:*")}
    assert len(following) == len(followers) == 30
    assert set(following["user-0"]) == {"user-1", "user-10", "user-11"}
    assert set(following["user-9"]) == {"user-0", "user-1", "user-10"}
    assert all(name in followers[followee] for name, followees in following.items() for followee in followees)


def summary(capsys: pytest.CaptureFixture[str]) -> tuple[int, ...]:
    """The numbers that were printed: of stories imported, stories already known, bad lines, new users and groups."""
    printed = SUMMARY.fullmatch(capsys.readouterr().out)
    assert printed
    return tuple(map(int, printed.groups()))


def times(redis) -> list[float]:
    """When each article was posted, in unix milliseconds, the first one first."""
    return sorted(value for key in redis.scan_iter("time:*") for _, value in redis.zrange(key, 0, -1, withscores=True))


def articles_with_other_voters(redis) -> list[str]:
    """Articles still open to votes whose count of upvotes is not that of known and imported voters."""
    differing = []
    for key in redis.scan_iter("voted:*"):
        article = redis.hgetall(key.replace("voted:", "article:"))
        if redis.scard(key) + int(article.get("imported", 0)) != int(article["up"]):
            differing.append(key)
    return differing


def test_summary_counts_stories_users_and_groups(settings, file, capsys):
    assert import_stories(settings, [file], ImportOptions()) == 0
    assert summary(capsys) == (1200, 0, 0, 30, 4)


@pytest.mark.parametrize("options", [ImportOptions(), ImportOptions(shift_to_now=True, with_voters=True)])
def test_repeat_changes_nothing(settings, file, redis, capsys, options):
    import_stories(settings, [file], options)
    before = everything(redis)
    capsys.readouterr()

    assert import_stories(settings, [file], options) == 0
    assert summary(capsys) == (0, 1200, 0, 0, 0)
    assert everything(redis) == before


def test_log_is_trimmed_during_an_import(settings, file, redis, monkeypatch):
    """Each batch waits until the trimming has caught up."""
    few = settings.model_copy(update={"log_entries": 100})
    imported = import_batch

    async def import_slowly(store: Store, *arguments: Any) -> Any:
        counts = await imported(store, *arguments)
        async with asyncio.timeout(10):
            while max(await log.lengths(store.site)) > 100:  # noqa: ASYNC110  # the task has no event
                await asyncio.sleep(0.01)
        return counts

    monkeypatch.setattr(log, "TRIM_INTERVAL", 0.01)
    monkeypatch.setattr("server.cli.import_stories.importing.import_batch", import_slowly)

    assert import_stories(few, [file], ImportOptions()) == 0
    assert 0 < sum(redis.xlen(key) for key in redis.scan_iter("log:*")) <= 100 * settings.partitions
    assert max(redis.hlen(key) for key in redis.scan_iter("logged:*")) <= 100


def test_interrupted_import_continues_with_the_same_shift(settings, file, redis, capsys, monkeypatch):
    calls = []

    async def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return await import_batch(*arguments, **options)

    options = ImportOptions(shift_to_now=True, with_voters=True)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("store.maintenance.import_stories.import_batch", interrupted)
        import_stories(settings, [file], options)
    first = summary(capsys)
    import_stories(settings, [file], options)

    assert first[:2] == (500, 0)
    assert summary(capsys)[:2] == (700, 500)
    assert times(redis)[-1] - times(redis)[0] == 28 * DAY - DAY / 24  # from the first to the last hour of 28 days
    assert articles_with_other_voters(redis) == []


def test_shift_opens_voting_for_the_last_weeks(settings, file, redis):
    before = unix_milliseconds()
    import_stories(settings, [file], ImportOptions(shift_to_now=True))

    assert before <= times(redis)[-1] <= unix_milliseconds()
    assert {redis.scard(key) for key in redis.scan_iter("voted:*")} == {1}
    assert articles_with_other_voters(redis) == []


def test_one_voter_is_created_for_each_vote(settings, file, redis):
    import_stories(settings, [file], ImportOptions(shift_to_now=True, with_voters=True))

    opened = list(redis.scan_iter("voted:*"))
    assert max(redis.scard(key) for key in opened) == 49  # the most points that a line has
    assert all(redis.hget(key.replace("voted:", "article:"), "imported") is None for key in opened)
    voters = set().union(*(redis.smembers(key) for key in opened))
    users = {redis.hget(key, "name") for key in redis.scan_iter("user:*")}
    assert voters <= users


def test_bad_lines_are_reported_and_the_rest_is_imported(settings, file, capsys):
    content = file.read_text()
    file.write_text(content + "nonsense\n" * 25)

    assert import_stories(settings, [file], ImportOptions()) == 0
    printed = capsys.readouterr()
    shown = printed.err.splitlines()
    assert shown[0] == "stories.csv, line 1202: it has 1 columns, the first line has 7"
    assert shown[19:] == ["stories.csv, line 1221: it has 1 columns, the first line has 7", "and 5 more bad lines"]
    assert printed.out.startswith("imported 1200, already known 0, bad lines 25, ")


def test_stories_with_control_characters_are_cleaned_and_counted(settings, file, capsys):
    content = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*content[:-13], *(each.replace(",A", ",\x80\x95A", 1) for each in content[-13:])]))

    import_stories(settings, [file], ImportOptions())
    summary, removed = capsys.readouterr().out.splitlines()
    assert summary.startswith("imported 1200, already known 0, bad lines 0, ")
    assert removed == "removed control characters from the titles or links of 13 stories"


def test_file_of_bad_lines_only_imports_nothing(settings, tmp_path, capsys):
    (tmp_path / "stories.jsonl").write_text("{}\n")

    assert (
        import_stories(settings, [tmp_path / "stories.jsonl"], ImportOptions(shift_to_now=True, with_voters=True)) == 0
    )
    assert summary(capsys) == (0, 0, 1, 0, 0)


def test_unreadable_file_creates_no_store(tmp_path):
    own = Settings(data_dir=tmp_path / "data")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")

    with pytest.raises(NotStories):
        import_stories(own, [tmp_path / "picture.png"], ImportOptions())
    for unreadable in (tmp_path, tmp_path / "nothing.csv"):
        with pytest.raises(OSError):
            import_stories(own, [unreadable], ImportOptions())

    assert not (tmp_path / "data").exists()


def test_command_fills_the_managed_store(file, tmp_path):
    done = run("import", file, "--shift-to-now", "--with-voters", data_dir=tmp_path / "data", partitions=8)

    assert (done.returncode, done.stderr) == (0, "")
    assert SUMMARY.fullmatch(done.stdout)
    with server.running(tmp_path / "data") as url:
        assert asyncio.run(_partitions(url)) == 8


async def _partitions(url: str) -> int:
    store = await Store.open(url)
    await store.close()
    return store.site.partitions


def test_command_reports_its_error(file, tmp_path):
    nothing = run("import", tmp_path / "nothing.csv", data_dir=tmp_path / "data")

    assert nothing.returncode == 2
    assert nothing.stderr.startswith("upvote: ")
    assert nothing.stderr.endswith("nothing.csv'\n")


def test_running_server_shows_what_is_imported(file, tmp_path):
    with serving(tmp_path) as live:
        done = run("import", file, data_dir=tmp_path)
        listed = live.ask("{ articles { totalCount } }")["data"]["articles"]["totalCount"]

    assert SUMMARY.fullmatch(done.stdout)
    assert listed > 0
