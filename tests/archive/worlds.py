"""
Two stores with the same history, of which one archives and the other never does, and random changes of both and queries
to both. An archived article is in the SQL database only: it has left Redis.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import httpx

from archive.mover import HotLimits, Mover, renew_listings
from database.database import Database
from database.mirror import Mirror
from engine import Client, Endpoint, Options
from resolvers.context import DEFAULT_RATES, Context
from resolvers.rate_limits import WriteRates
from schema.schema import SCHEMA
from server.app import CODES
from store import keys, leases
from store.maintenance import reindex
from store.maintenance.import_stories import Story, import_batch
from store.numbering import sequence_of
from store.ranking.formulas import Order, Policy
from store.records import article_number
from store.store import Store
from tests.archive.queries import LISTINGS, MUTATIONS, NODES, STANDINGS
from tests.conftest import Clock, registered
from tests.typed import typed

T = TypeVar("T")

WINDOW = 600  # seconds of voting; an article may leave Redis about 60 seconds later: see `archive.steps.GRACE`
POLICY = Policy(good_votes=3, voting_window=WINDOW, duplicate_window=5 * 86_400)
PEOPLE = ("alice", "Bob", "carol", "Dave", "erin", "frank")
GROUPS = ("ask", "show", "tell", "news")
LINKS = (*(f"https://example.com/{name}" for name in "abcd"), "https://example.com/a?utm_source=x#part", None)


@dataclass
class World:
    """A store with users who are logged in, by their `tokens`, and its GraphQL endpoint."""

    store: Store
    database: Database | None
    tokens: dict[str, str] = field(default_factory=dict)
    address: str | None = None  # of all clients; without one nothing is limited
    rates: WriteRates = DEFAULT_RATES

    def __post_init__(self) -> None:
        endpoint = Endpoint(SCHEMA, self._open, CODES, Options())
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(endpoint), base_url="http://upvote")

    def _open(self, client: Client) -> Context:
        return Context(self.store, client.token, address=self.address, rates=self.rates, database=self.database)

    async def close(self) -> None:
        await self._client.aclose()
        await self.store.close()

    async def register(self, name: str) -> None:
        await registered(self.store, name)
        self.tokens[name] = (await self.store.sessions.open(name)).token

    async def ask(self, query: str, viewer: str | None, variables: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.tokens[viewer]}"} if viewer else {}
        response = await self._client.post("/", json={"query": query, "variables": variables}, headers=headers)
        answer = response.json()
        return {"data": answer.get("data"), "errors": answer.get("errors")}

    async def numbers(self) -> set[int]:
        """The articles that Redis has."""
        site = self.store.site
        commands = [("ZRANGE", keys.index(partition, "time"), 0, -1) for partition in range(site.partitions)]
        return {int(member) for part in await site.redis.pipeline(commands) for member in part}


class Crash(Exception):
    """A process ends."""


@dataclass
class CrashingDatabase:
    """A database whose process may end before or after each transaction."""

    database: Database
    chance: random.Random

    async def run(self, query: Callable[..., T], *arguments: Any) -> T:
        return await self.database.run(query, *arguments)

    async def write(self, change: Callable[..., T], *arguments: Any) -> T:
        return await self.database.write(change, *arguments)

    async def write_durably(self, change: Callable[..., T], *arguments: Any) -> T:
        if self.chance.random() < 0.1:
            raise Crash("crash before a transaction")
        result = await self.database.write_durably(change, *arguments)
        if self.chance.random() < 0.2:
            raise Crash("crash after a transaction")
        return result


@dataclass
class Pair:
    """
    Two stores with the same history: `archiving` archives, `complete` never does. `reached` counts the cases that were
    compared. Articles that Redis has are called hot, archived ones cold.
    """

    archiving: World
    complete: World
    clock: Clock
    chance: random.Random
    reached: Counter[str] = field(default_factory=Counter)
    archived: set[int] = field(default_factory=set)
    returned: set[int] = field(default_factory=set)  # articles that were archived and came back
    ids: list[str] = field(default_factory=list)  # of all articles, also of deleted ones
    # queries to be sent again, each with its viewer and its variables
    sent_queries: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)
    stories: int = 0  # that were imported
    crashes: bool = True  # the process that archives may end in simulated crashes
    days: int | None = None  # after which conversations leave Redis
    listed_comments: int = 1_000  # that stay in the list of each user
    archiver: Mover | None = None
    mirror: Mirror | None = None

    @property
    def worlds(self) -> tuple[World, World]:
        return self.archiving, self.complete

    async def ask(self, query: str, viewer: str | None, /, **variables: Any) -> dict[str, Any]:
        """Ask both stores, check that their answers are equal, and return one."""
        one, other = [await world.ask(query, viewer, variables) for world in self.worlds]
        assert typed(one) == typed(other), (one, other, query, viewer, variables)
        return one

    async def find_archived(self) -> None:
        """Note which articles are archived now, and which have come back."""
        before, everything = self.archived, await self.complete.numbers()
        hot = await self.archiving.numbers()
        self.returned |= before & hot
        self.archived = everything - hot
        self.reached["deleted archived"] += len(before - everything)
        self.returned -= self.archived

    async def begin(self) -> None:
        for _ in range(4):
            await self.import_some()
            await self.post_some()

    async def step(self) -> None:
        """Do something at random, in both stores."""
        await self.chance.choice(STEPS)(self)
        await self.find_archived()

    async def mutate(self, name: str, who: str, **input: Any) -> dict[str, Any]:
        """Send a mutation of `MUTATIONS` to both stores, count what came up, and return the payload."""
        self.reached[name] += 1
        number = article_number(input.get("articleId", ""))
        if number in self.archived:
            self.reached[f"{name} of an archived article"] += 1
        answer = await self.ask(MUTATIONS[name], who, input=input)
        assert answer["data"], answer
        (payload,) = answer["data"].values()
        for error in payload["userErrors"]:
            self.reached[f"{name}: {error['code']}{' of an archived article' * (number in self.archived)}"] += 1
        return payload

    async def post(self) -> None:
        who, link = self.chance.choice(PEOPLE), self.chance.choice(LINKS)
        key = self.chance.choice([None, None, f"key {self.chance.randrange(6)}"])
        title = key or f"A title {self.chance.randrange(100)}"
        input = {"title": title, "content": f"Of {who}.", "groups": self.groups(), "idempotencyKey": key}
        if key:  # the same input again
            input |= {"groups": ["show"]}
        elif link:
            input |= {"link": link}
        payload = await self.mutate("post", who, **input)
        if payload["article"] and payload["article"]["id"] not in self.ids:
            self.ids.append(payload["article"]["id"])
        elif payload["article"] and article_number(payload["article"]["id"]) in self.archived:
            self.reached["replay of an archived article"] += 1
        if payload["duplicateOf"] and article_number(payload["duplicateOf"]["id"]) in self.archived:
            self.reached["archived duplicate"] += 1

    async def post_some(self) -> None:
        for _ in range(self.chance.randrange(1, 6)):
            await self.post()
            self.clock.advance(self.chance.choice([0, 0, 0.001, 30]))

    async def import_some(self) -> None:
        stories = []
        for _ in range(self.chance.randrange(1, 8)):
            self.stories += 1
            age = self.chance.choice([0, WINDOW, WINDOW + 70, 86_400, 86_400, self.chance.randrange(4 * 86_400)])
            votes = self.chance.choice([1, 1, 2, 3, 4, 4, 9, 40])
            at, link = self.clock.now - age * 1000, self.chance.choice(LINKS) or ""
            poster = self.chance.choice(PEOPLE)
            stories.append(
                Story(
                    str(self.stories),
                    "A story",
                    link=link,
                    poster=poster,
                    time=at,
                    votes=votes,
                    groups=tuple(sorted(self.groups())),
                )
            )
        for world in self.worlds:
            await import_batch(world.store, stories)
        self.ids = [f"article:{number}" for number in sorted(await self.complete.numbers() | self.numbers())]

    async def vote_some(self) -> None:
        for _ in range(self.chance.randrange(1, 8)):
            value = self.chance.choice(["UP", "UP", "DOWN", "NONE"])
            await self.mutate("vote", self.chance.choice(PEOPLE), articleId=self.any_id(), value=value)

    async def actor(self, id: str) -> str:
        """Mostly the poster of an article."""
        site, number = self.complete.store.site, article_number(id) or 0
        poster: str | None = await site.redis.run(
            ("HGET", keys.article(site.partition_of_article(number), number), "poster")
        )
        return poster if poster and self.chance.random() < 0.8 else self.chance.choice(PEOPLE)

    async def edit(self) -> None:
        id = self.any_id()
        change = self.chance.choice([{"title": "Edited"}, {"link": self.chance.choice(LINKS)}, {"content": None}])
        await self.mutate("edit", await self.actor(id), articleId=id, **change)

    async def regroup(self) -> None:
        id = self.any_id()
        await self.mutate("regroup", await self.actor(id), articleId=id, add=self.groups(), remove=self.groups())

    async def delete(self) -> None:
        id = f"article:{self.chance.choice(sorted(self.archived))}" if self.archived else self.any_id()
        await self.mutate("delete", await self.actor(id), articleId=id)

    async def follow(self) -> None:
        who, whom = self.chance.sample(PEOPLE, 2)
        await self.mutate(self.chance.choice(["follow", "follow", "unfollow"]), who, userId=f"user:{whom.lower()}")

    async def mark_seen(self) -> None:
        """Mark the feed of a user as seen, down to the end of its first page."""
        who = self.chance.choice(PEOPLE)
        answer = await self.ask(LISTINGS["feed"], who, first=self.chance.choice([1, 5, 20]))
        if cursor := answer["data"]["feed"]["listing"]["pageInfo"]["endCursor"]:
            await self.mutate("seen", who, through=cursor)

    async def advance(self) -> None:
        self.clock.advance(self.chance.choice([1, 60, WINDOW, WINDOW + 70, 86_400]))

    async def weigh(self) -> None:
        """Give a group other weights."""
        group, hours = self.chance.choice(GROUPS), self.chance.choice([1, 5, 50])
        changes = {"vote_score": hours * 3600.0, "gravity_age": self.chance.choice([1.0, 1.8])}
        for world in self.worlds:
            await reindex.set_weights(world.store.site, group, changes, progress=lambda count: None)
        if self.archived and self.archiving.database:
            await renew_listings(self.archiving.store.site, self.archiving.database)
        self.reached["new weights"] += bool(self.archived)

    async def archive(self) -> None:
        """A pass with random limits, which may end before or after any transaction of the database."""
        if self.chance.random() < 0.5:
            self.clock.advance(WINDOW + 70)
        await self.run_mover(self.chance.choice([0, 1, 5, 20, 40, 1_000]), self.chance.choice([0, 2, 5, 10, 1_000]))

    async def archive_all(self, staying_share: float = 0) -> None:
        """Archive all articles but a share of them, the newest."""
        self.clock.advance(WINDOW + 70)
        staying = round(len(await self.complete.numbers()) * staying_share)
        while not await self.run_mover(staying, articles_per_user=1_000):
            pass
        await self.find_archived()

    async def run_mover(self, articles: int, articles_per_user: int) -> bool:
        """Run a pass of the mover with these limits; False if its process ended in a simulated crash."""
        world = self.archiving
        limits = HotLimits(
            articles=articles,
            articles_per_user=articles_per_user,
            days=self.days,
            listed_comments=self.listed_comments,
        )
        assert world.database
        if self.archiver is None:
            database: Any = CrashingDatabase(world.database, self.chance) if self.crashes else world.database
            # without the waits, in seconds, that give other processes of a server time
            self.archiver = Mover(world.store.site, database, limits, notice=0, removal_delay=0, lists_interval=0)
        self.archiver.limits = limits
        self.mirror = self.mirror or Mirror(world.store.site, world.database)
        mirroring = asyncio.create_task(follow(self.mirror))
        try:
            self.reached["moved"] += await self.archiver.move()
        except Crash as crash:
            self.reached[str(crash)] += 1
            self.archiver = None
            # the leases of the process that ended, which would expire by themselves
            ended = [("DEL", leases.lease(partition, "archiver")) for partition in range(world.store.site.partitions)]
            await world.store.site.redis.pipeline(ended)
        finally:
            mirroring.cancel()
            await asyncio.wait([mirroring])
        return self.archiver is not None

    def groups(self) -> list[str]:
        return self.chance.sample(GROUPS, self.chance.choice([0, 1, 1, 2]))

    def numbers(self) -> set[int]:
        return {number for id in self.ids if (number := article_number(id))}

    def any_id(self) -> str:
        """The id of an article, often of an archived one, rarely of one that does not exist."""
        if self.ids and self.chance.random() < 0.95:
            if self.archived and self.chance.random() < 0.4:
                return f"article:{self.chance.choice(sorted(self.archived))}"
            return self.chance.choice(self.ids[-40:] if self.chance.random() < 0.5 else self.ids)
        return "article:1541"  # there is none

    async def compare(self) -> None:
        """Compare some answers of every kind."""
        for kind in LISTINGS:
            await self.walk(kind, self.chance.choice(PEOPLE))
        for order in self.chance.sample(list(Order), 3):
            await self.standings(order)
        ids = [self.any_id() for _ in range(10)]
        await self.ask(NODES, self.chance.choice(PEOPLE), id=ids[0], ids=ids)
        self.reached["archived node"] += len({article_number(id) for id in ids} & self.archived)
        for query, viewer, variables in self.chance.sample(self.sent_queries, min(len(self.sent_queries), 10)):
            await self.ask(query, viewer, **variables)
        self.sent_queries = self.chance.sample(self.sent_queries, min(len(self.sent_queries), 40))

    async def compare_all(self) -> None:
        """Compare every listing from its beginning to its end, and back, and standings in every order."""
        await self.archive_all(staying_share=0.5)
        await self.change_archived()
        for order in Order:
            await self.compare_whole("articles", PEOPLE[0], {"order": order.name})
            for page in (2, 5, 9, 17):
                await self.page("articles", PEOPLE[2], {"order": order.name, "first": 3, "page": page})
            for name in GROUPS:
                await self.compare_whole("group", PEOPLE[0], {"order": order.name, "name": name})
            await self.standings(order)
        await self.compare_whole("articles", PEOPLE[1], {"order": "HOT", "pinned": True})
        for order in ("TIME", "VOTES"):
            await self.compare_whole("articles", None, {"order": order, "since": self.instant()})
        for number in sorted(self.archived)[::10]:
            posted_at = sequence_of(number) // 2  # a sequence is twice the milliseconds
            await self.compare_whole("front page", None, {"date": instant(posted_at)[:10]})
        for kind in OF_ONE_ORDER:
            for name in PEOPLE:
                await self.compare_whole(kind, name, self.arguments(kind))

    async def change_archived(self) -> None:
        """Change a few archived articles, each in another way, and the weights of a group."""
        await self.weigh()
        changes = {
            "edit": {"title": "Changed"},
            "regroup": {"add": ["ask"], "remove": ["show"]},
            "vote": {},
            "delete": {},
        }
        for (name, change), number in zip(changes.items(), self.chance.sample(sorted(self.archived), 4), strict=True):
            site, id = self.complete.store.site, f"article:{number}"
            poster = await site.redis.run(("HGET", keys.article(site.partition_of_article(number), number), "poster"))
            await self.mutate(name, poster, articleId=id, **change)
        await self.find_archived()

    async def compare_whole(self, kind: str, viewer: str | None, variables: dict[str, Any]) -> None:
        """Compare all pages of a listing, from its beginning and from its end."""
        size = self.chance.choice([2, 3, 5])
        listing = await self.page(kind, viewer, {**variables, "first": size})
        while listing and listing["pageInfo"]["hasNextPage"]:
            variables.pop("pinned", None)
            listing = await self.page(
                kind, viewer, {**variables, "first": size, "after": listing["pageInfo"]["endCursor"]}
            )
        variables.pop("pinned", None)
        listing = await self.page(kind, viewer, {**variables, "last": size})
        while listing and listing["pageInfo"]["hasPreviousPage"]:
            before = {"last": size, "before": listing["pageInfo"]["startCursor"]}
            listing = await self.page(kind, viewer, {**variables, **before})

    async def standings(self, order: Order) -> None:
        ids, group = [self.any_id() for _ in range(8)], self.chance.choice([None, *GROUPS])
        await self.ask(STANDINGS, None, ids=ids, order=order.name, group=group)
        if {article_number(id) for id in ids} & self.archived:
            self.reached[f"standing by {order.name} of an archived article"] += 1

    async def walk(self, kind: str, viewer: str) -> None:
        """Read pages of a listing one after the other, from its beginning or end, changing the direction at times."""
        variables, size = self.arguments(kind), self.chance.choice([1, 2, 3, 5, 10, 30])
        if self.chance.random() < 0.15 and kind in ("articles", "group"):
            await self.page(kind, viewer, {**variables, "first": size, "page": self.chance.randrange(1, 12)})
            return
        upwards, cursor = self.chance.random() < 0.4, None
        turning_point = self.chance.randrange(2, 9)
        for turn in range(12):
            if turn == turning_point:
                upwards = not upwards
            paging = {"last": size, "before": cursor} if upwards else {"first": size, "after": cursor}
            listing = await self.page(kind, viewer, {**variables, **paging})
            if not listing:
                return
            info = listing["pageInfo"]
            cursor = info["startCursor" if upwards else "endCursor"]
            if not info["hasPreviousPage" if upwards else "hasNextPage"]:
                upwards = not upwards
            variables.pop("pinned", None)

    async def page(self, kind: str, viewer: str | None, variables: dict[str, Any]) -> dict[str, Any] | None:
        """A page that both stores answer equally; None if it is empty. `kind` is a key of `LISTINGS`."""
        answer = await self.ask(LISTINGS[kind], viewer, **variables)
        assert answer["data"] and not answer["errors"], answer
        self.sent_queries.append((LISTINGS[kind], viewer, variables))
        listing = answer["data"].get("listing") or next(iter(answer["data"].values()))["listing"]
        self.note(kind, variables, listing)
        return listing if listing["edges"] else None

    def note(self, kind: str, variables: dict[str, Any], listing: dict[str, Any]) -> None:
        """Count each case that a page shows, such as hot and archived articles on one page: see `EXPECTED`."""
        shown = [article_number(edge["node"]["id"]) for edge in listing["edges"]]
        cold = [number for number in shown if number in self.archived]
        self.reached["returned article"] += any(number in self.returned and number not in cold for number in shown)
        if not cold:
            return
        region = "inside the archive" if len(cold) == len(shown) else "across the border"
        direction = "up" if "last" in variables else "page number" if "page" in variables else "down"
        order = variables.get("order") or ""
        self.reached[f"{kind} {order} {region}".replace("  ", " ")] += 1
        self.reached[f"{region}, {direction}"] += 1
        self.reached["since"] += "since" in variables
        self.reached["pinned"] += "pinned" in variables
        self.reached["page number"] += "page" in variables
        self.reached["of a day"] += "date" in variables
        self.reached["unseen"] += bool(variables.get("unseen"))
        if order == "VOTES":
            votes = [edge["node"]["votes"] for edge in listing["edges"]]
            self.reached["equal values"] += len(set(votes)) < len(votes)

    def arguments(self, kind: str) -> dict[str, Any]:
        """Random variables of a query of `LISTINGS`."""
        chance = self.chance
        match kind:
            case "articles" | "group":
                given: dict[str, Any] = {"order": chance.choice(list(Order)).name}
                if chance.random() < 0.25:
                    given = {"order": chance.choice(["TIME", "VOTES"]), "since": self.instant()}
                if chance.random() < 0.15:
                    given["pinned"] = True
                return given | ({"name": chance.choice(GROUPS)} if kind == "group" else {})
            case "timeline":
                return {"name": chance.choice(PEOPLE)}
            case "front page":
                return {"date": self.instant()[:10]} if chance.random() < 0.5 else {}
            case "link":
                return {"link": chance.choice(LINKS[:-1])}
            case "feed":
                return {"unseen": chance.random() < 0.4}
        raise ValueError(kind)

    def instant(self) -> str:
        """A time of the last five days."""
        return instant(self.clock.now - 1000 * self.chance.randrange(5 * 86_400))


def instant(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def follow(mirror: Mirror) -> NoReturn:
    """Keep the database up to date with the log until this is cancelled."""
    while True:
        await mirror.catch_up()
        await asyncio.sleep(0.005)


STEPS = [
    *[Pair.post_some] * 4, *[Pair.vote_some] * 4, *[Pair.import_some] * 3, *[Pair.edit] * 3, *[Pair.regroup] * 3,
    *[Pair.delete] * 2, *[Pair.follow] * 2, Pair.mark_seen, Pair.weigh, *[Pair.advance] * 3, *[Pair.archive] * 4,
]  # fmt: skip


# The listings whose articles have one order only; all articles and those of a group have each `Order`.
OF_ONE_ORDER = ("timeline", "front page", "link", "feed")
# The cases that every run has to compare. "Across the border" is a page with articles of Redis and of the archive.
EXPECTED = (
    *(
        f"{kind} {region}"
        for kind in (*(f"{kind} {order.name}" for kind in ("articles", "group") for order in Order), *OF_ONE_ORDER)
        for region in ("across the border", "inside the archive")
    ),
    *(
        f"{region}, {direction}"
        for region in ("across the border", "inside the archive")
        for direction in ("up", "down")
    ),
    *(f"standing by {order.name} of an archived article" for order in Order),
    *(f"{name} of an archived article" for name in ("edit", "regroup", "delete", "vote")),
    "since", "pinned", "of a day", "unseen", "page number", "equal values", "archived node", "returned article",
    "deleted archived", "new weights", "crash before a transaction", "crash after a transaction",
)  # fmt: skip
