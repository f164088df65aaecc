"""The command `upvote group`, which adds, changes, lists and removes groups with a title and a text."""

import asyncio

import pytest

from server.cli.import_stories import ImportOptions, import_stories
from server.cli.main import main
from server.settings import Settings
from store.store import Store
from tests.server.conftest import HEADER, line

pytestmark = [pytest.mark.one_server, pytest.mark.many_partitions]


@pytest.fixture
def settings(redis_url, partitions, monkeypatch) -> Settings:
    """The settings of an empty store, which commands read from the environment."""
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)
    monkeypatch.setenv("UPVOTE_PARTITIONS", str(partitions))
    return Settings(redis_url=redis_url, partitions=partitions)


def shown(capsys) -> list[str]:
    """The lines that were printed, without the times."""
    lines = capsys.readouterr().out.splitlines()
    return [" ".join(word for word in line.split() if not word.endswith("Z")) for line in lines]


def test_groups_are_added_changed_listed_and_removed(settings, capsys):
    assert main(["group", "add", "Lua", "--title", "Lua and its kin", "--about", "Small *languages*."]) == 0
    assert main(["group", "add", "ask"]) == 0
    assert main(["group", "add", "lua", "--title", "Lua"]) == 0
    assert main(["group", "add", "lua"]) == 0
    assert shown(capsys) == ["lua is listed", "ask is listed", "lua is listed", "lua was listed so before"]

    assert main(["group", "list"]) == 0
    assert shown(capsys) == ["ask", "lua Lua"]

    assert main(["group", "remove", "ASK"]) == 0
    assert main(["group", "remove", "ask"]) == 2
    assert main(["group", "list"]) == 0
    assert shown(capsys) == ["ask is not listed any more", "lua Lua"]


def test_malformed_group_is_refused_with_all_faults(settings, redis, capsys):
    assert main(["group", "add", "a:b", "--title", "x" * 101, "--about", " "]) == 2

    message = capsys.readouterr().err
    assert "not 'a:b'" in message
    assert "a title has 1 to 100 characters, this one 101" in message
    assert "about has only blanks" in message
    assert redis.dbsize() == 0


def test_import_lists_the_groups_of_its_stories(settings, tmp_path, capsys):
    file = tmp_path / "stories.csv"
    file.write_text(HEADER + "".join(map(line, range(30))))
    import_stories(settings, [file], ImportOptions())
    assert asyncio.run(listed(settings)) == []

    import_stories(settings.model_copy(update={"groups": "listed"}), [file], ImportOptions())
    assert "ask" in asyncio.run(listed(settings))


async def listed(settings: Settings) -> list[str]:
    store = await Store.open(settings.redis_url)
    names = list(await store.groups.listed())
    await store.close()
    return names
