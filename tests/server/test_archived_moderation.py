"""
What moderators hide leaves all answers of a server, and comes back, also if it is archived: old articles are moved from
Redis to the database.

Codes such as M2 name rows of docs/behaviours.md.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from server.cli.import_stories import ImportOptions, import_stories
from server.settings import Settings
from tests.server.commands import run
from tests.server.conftest import HEADER, NO_CERTIFICATES, REGISTER, Live, redis_of, serving
from tests.servers import until

WORD = "Zyzzyva"  # in all titles
TITLES = [f"{WORD} {number}" for number in range(8)]
POSTERS = ["mallory", "bob", "carol", "dave"]
ACT = "changed action { id } userErrors { message }"
REMOVE = f"mutation($input: RemoveContentInput!) {{ done: removeContent(input: $input) {{ {ACT} }} }}"
BAN = f"mutation($input: BanUserInput!) {{ done: banUser(input: $input) {{ {ACT} }} }}"
REVERT = f"mutation($input: RevertModerationInput!) {{ done: revertModeration(input: $input) {{ {ACT} }} }}"
IDS = "{ articles(order: TIME, first: 20) { totalCount nodes { id title } } }"
THREADS = """query($ids: [ID!]!, $words: String!) {
  nodes(ids: $ids) { ... on Article { title thread { totalCount } } }
  search(query: $words, first: 20) { totalCount nodes { ... on Article { title } } } }"""

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


class Archived:
    """A served site of old articles, all of them archived, and its admin."""

    def __init__(self, live: Live, folder: Path) -> None:
        self.live, self.folder = live, folder
        self.token = live.ask(REGISTER)["data"]["register"]["token"]
        granted = run("role", "grant", "alice", "ADMIN", data_dir=folder)
        assert granted.returncode == 0, granted.stderr
        self.ids = {each["title"]: each["id"] for each in live.ask(IDS)["data"]["articles"]["nodes"]}
        until(lambda: self.count_in_redis() == 0)
        assert sorted(self.ids) == TITLES
        until(lambda: self.shown()["search"] == TITLES)  # the server has opened its database

    def count_in_redis(self) -> int:
        with redis_of(self.folder) as redis:
            return sum(redis.zcard(key) for key in redis.scan_iter("time:{*}"))

    def act(self, mutation: str, **input: object) -> str:
        """Do what an admin may, and return the id of the action."""
        done = self.live.ask(mutation, self.token, input=input)["data"]["done"]
        assert (done["changed"], done["userErrors"]) == (True, [])
        return done["action"]["id"]

    def text_of(self, path: str) -> str:
        return httpx.get(f"{self.live.url}/{path}", verify=NO_CERTIFICATES).text

    def shown(self) -> dict[str, list[str]]:
        """The titles that each kind of answer shows."""
        numbers = {title: id.partition(":")[2] for title, id in self.ids.items()}
        items = {title: self.text_of(f"hn/v0/item/{number}.json") for title, number in numbers.items()}
        located = set(re.findall(r"article/(\d+)<", self.text_of("sitemap-articles-1.xml")))
        listed = set(re.findall(r"\d+", self.text_of("hn/v0/newstories.json")))
        data = self.live.ask(THREADS, ids=list(self.ids.values()), words=WORD)["data"]
        found = data["search"] or {"nodes": []}
        return {
            "item": [title for title in TITLES if title in items[title]],
            "stories": [title for title in TITLES if numbers[title] in listed],
            "sitemap": [title for title in TITLES if numbers[title] in located],
            **{name: sorted(set(re.findall(rf"{WORD} \d", self.text_of(name)))) for name in ("rss.xml", "atom.xml")},
            "feeds of users": sorted(
                title for name in POSTERS for title in re.findall(rf"{WORD} \d", self.text_of(f"user/{name}/rss.xml"))
            ),
            "pages": [title for title in TITLES if title in self.text_of(f"article/{numbers[title]}")],
            "thread": sorted(node["title"] for node in data["nodes"] if node),
            "search": sorted(node["title"] for node in found["nodes"]),
        }

    def differing(self, titles: list[str]) -> dict[str, object]:
        """
        The kinds of answers that show other titles than these, with what they show. Waits until the total of searches
        has followed, within a second.
        """
        found: dict[str, object] = {name: each for name, each in self.shown().items() if each != titles}
        until(lambda: self.live.ask(THREADS, ids=[], words=WORD)["data"]["search"]["totalCount"] == len(titles))
        total = self.live.ask(IDS)["data"]["articles"]["totalCount"]
        return found | ({} if total == len(titles) else {"total": total})

    def until_found(self, titles: list[str]) -> None:
        """Wait until searches find what has come back, within a second."""
        until(lambda: self.shown()["search"] == titles)


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archived]:
    folder = tmp_path_factory.mktemp("archived")
    stories = folder / "stories.csv"
    stories.write_text(HEADER + "".join(
        f"{number},{title},https://host{number}.example/,3,0,{POSTERS[number % 4]},2016-08-{number + 1:02d}T00:00:00Z\n"
        for number, title in enumerate(TITLES)
    ))  # fmt: skip
    import_stories(Settings(data_dir=folder / "data"), [stories], ImportOptions())
    with serving(folder / "data", hot_articles=0, hot_articles_per_user=0) as live:
        yield Archived(live, folder / "data")


@pytest.mark.slow
def test_removed_article_is_nowhere_and_comes_back(archived):  # M2
    assert archived.differing(TITLES) == {}
    removal = archived.act(REMOVE, subjectId=archived.ids[TITLES[1]], reason="an advertisement")
    assert archived.differing([each for each in TITLES if each != TITLES[1]]) == {}
    archived.act(REVERT, actionId=removal, reason="a mistake")
    archived.until_found(TITLES)
    assert archived.differing(TITLES) == {}


@pytest.mark.slow
def test_texts_removed_with_a_ban_are_nowhere_and_come_back(archived):  # M2, M3
    assert archived.differing(TITLES) == {}
    ban = archived.act(BAN, userId="user:mallory", removeTexts=True, reason="spam")
    assert archived.differing([each for each in TITLES if each not in (TITLES[0], TITLES[4])]) == {}
    archived.act(REVERT, actionId=ban, reason="a mistake")
    archived.until_found(TITLES)
    assert archived.differing(TITLES) == {}


def test_purged_article_is_nowhere(archived):  # M2
    assert archived.differing(TITLES) == {}
    done = run("purge", archived.ids[TITLES[7]], "--reason", "An address.", data_dir=archived.folder)
    assert done.returncode == 0, done.stderr
    assert archived.differing(TITLES[:7]) == {}
