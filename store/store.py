"""Opens a store. It holds the settings it was created with; each start compares them with its own settings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from store import keys, links
from store.articles import Articles
from store.client import Command
from store.client.client import RedisClient
from store.client.replication import Replication
from store.client.tracking_cache import DEFAULT_CACHED_KEYS, CacheOptions
from store.comments import Comments
from store.errors import StoreMismatch
from store.follows import Follows
from store.groups import GroupRules, Groups
from store.identities import IdentifiedUsers
from store.inboxes import Inboxes
from store.log import IDENTITY_FIELD, new_identity
from store.mailboxes import Mailboxes
from store.maintenance.restore import RESTORING_FIELD
from store.offers import Offers
from store.passwords import Passwords
from store.queries import VoteCache, VoterCache
from store.ranking.config import (
    ACTIVE_FIELD,
    HOMES_FIELD,
    LINKS_FIELD,
    ORDERS_FIELD,
    RECENT_FIELD,
    Rankings,
    orders_to_write,
)
from store.ranking.formulas import DAY, Order, Policy
from store.rate_limits import Attempts
from store.reserved_names import ReservedNames
from store.rules import NO_RULES, Rules
from store.server_keys import ServerKeys
from store.sessions import Sessions
from store.site import MAX_MENTIONS, WOKEN_COMMENTS, Check, Site, unix_milliseconds
from store.users import Users

SESSION_LIFETIME = 30 * 24 * 60 * 60  # seconds


@dataclass(frozen=True, slots=True)
class Store:
    """An open store: the commands by subject, and `site`, which the functions of all modules take."""

    site: Site
    sessions: Sessions
    articles: Articles
    groups: Groups
    comments: Comments
    inboxes: Inboxes
    users: Users
    identities: IdentifiedUsers
    follows: Follows
    mailboxes: Mailboxes
    attempts: Attempts
    server_keys: ServerKeys

    @classmethod
    async def open(
        cls,
        url: str,
        policy: Policy | None = None,
        partitions: int | None = None,
        orders: Sequence[Order] = tuple(Order),
        *,
        clock: Callable[[], int] = unix_milliseconds,
        session_lifetime: int = SESSION_LIFETIME,
        max_mentions: int = MAX_MENTIONS,
        reserved_names: Iterable[str] = (),
        only_listed_groups: bool = False,
        rules: Rules = NO_RULES,
        check: Check | None = None,
        deletions: Path | None = None,
        offers: Offers | None = None,
        offers_mail: bool = False,
        comment_days: int | None = None,
        woken_comments: int = WOKEN_COMMENTS,
        confirming_replicas: int = 0,
        cached_keys: int = DEFAULT_CACHED_KEYS,
        strict: bool = True,
        bounded_hashing: bool = True,
    ) -> Self:
        """
        Connect to a store; create it with these settings if it is empty. Two round trips; at most four more to create
        it. `orders` are used only to create it; `reindex` changes them.

        Writes wait for `confirming_replicas` replicas. Up to `cached_keys` articles and users of each server are cached
        in this process. `clock` returns unix milliseconds; `session_lifetime` is in seconds. At most `max_mentions`
        mentions of a text notify. `reserved_names` cannot be registered, beside those that are reserved everywhere, and
        name no new group. With `only_listed_groups` articles are added only to groups that an admin has made.
        `rules` are those by which texts are hidden without a moderator, and `check` asks a service outside about texts.
        `deletions` is the file that has the deletions of users, for stores that are restored later. `offers` say
        who may register, and whether there are passwords. Users may have an address only if the site `offers_mail`.
        Articles take no comments after `comment_days`, if given. A comment, an edit or a deletion brings a conversation
        back to Redis that only the database has, as long as all that came back have at most `woken_comments` comments.
        Without `strict`, a store created with another policy is opened, too: `verify` rebuilds its indexes. Without
        `bounded_hashing`, passwords wait for a thread that hashes them for any time, and none is refused.

        Raises:
            StoreMismatch: it was created with other settings, or a restore into it has not finished.
            StoreUnavailable: Redis does not answer.
        """
        policy, redis = policy or Policy(), _client(url, confirming_replicas, cached_keys)
        partitions, rankings = await _read_settings(redis, policy, partitions, orders, strict)
        site = Site(
            redis, partitions, policy, clock, session_lifetime, rankings, max_mentions,
            rules=rules, check=check, deletions=deletions, offers_mail=offers_mail,
            woken_comments=woken_comments,
            commenting_ms=None if comment_days is None else comment_days * DAY * 1000,
        )  # fmt: skip
        group_rules = GroupRules(only_listed_groups, ReservedNames(reserved_names))
        return cls._of(site, Passwords(clock, is_bounded=bounded_hashing), group_rules, offers or Offers())

    @classmethod
    def _of(cls, site: Site, passwords: Passwords, group_rules: GroupRules, offers: Offers) -> Self:
        sessions, attempts, groups = Sessions(site), Attempts(site), Groups(site, group_rules)
        users = Users(site, sessions, attempts, passwords, group_rules.reserved, offers)
        return cls(
            site=site,
            sessions=sessions,
            articles=Articles(site, groups),
            groups=groups,
            comments=Comments(site),
            inboxes=Inboxes(site),
            users=users,
            identities=IdentifiedUsers(site, group_rules.reserved),
            follows=Follows(site),
            mailboxes=Mailboxes(site, users),
            attempts=attempts,
            server_keys=ServerKeys(site),
        )

    async def close(self) -> None:
        self.users.close()
        await self.site.redis.close()


def _client(url: str, confirming_replicas: int, cached_keys: int) -> RedisClient:
    replication = Replication(confirming_replicas, keys.mark) if confirming_replicas else None
    caching = CacheOptions(cached_keys, keys.CACHED, (VoteCache, VoterCache))
    return RedisClient(url, replication, caching if cached_keys else None)


async def _read_settings(
    redis: RedisClient, policy: Policy, partitions: int | None, orders: Sequence[Order], strict: bool
) -> tuple[int, Rankings]:
    """The number of partitions (shares of the data) of a store, which is created if it is empty, and its rankings."""
    try:
        partitions = await _agree_on_settings(redis, policy, partitions, orders, strict)
        rankings = Rankings()
        await rankings.read(redis)
    except BaseException:
        await redis.close()
        raise
    return partitions, rankings


async def _agree_on_settings(
    redis: RedisClient, policy: Policy, partitions: int | None, orders: Sequence[Order], strict: bool
) -> int:
    """Compare the settings with those in the store, creating it if it is empty, and return the number of partitions."""
    settings: dict[str, float | None] = {"partitions": partitions, **policy.kept_in_indexes()}
    command: Command = ("HMGET", keys.store(), *settings, IDENTITY_FIELD, RESTORING_FIELD)
    *stored, identity, restoring = await redis.run(command)
    is_new = False
    if None in (*stored, identity):  # else nothing is written, so that a store with a full disk can be opened
        initial = {**settings, "partitions": partitions or 1, IDENTITY_FIELD: new_identity()}
        if not any(stored):  # first, so that no process takes the indexes of a new store for incomplete
            complete = {LINKS_FIELD: links.VERSION, ACTIVE_FIELD: 1, RECENT_FIELD: 1, HOMES_FIELD: 1}
            await redis.pipeline([("HSETNX", keys.store(), name, value) for name, value in complete.items()])
        is_new, *_ = await redis.pipeline(
            [("HSETNX", keys.store(), name, str(value)) for name, value in initial.items()]
        )
        *stored, identity, restoring = await redis.run(command)
    if restoring is not None:
        raise StoreMismatch("a restore into this store has not finished: repeat it, or empty the store")
    if is_new:
        await _write_orders(redis, partitions or 1, orders)
    for (name, value), known in zip(settings.items(), stored, strict=True):
        if value is not None and float(known) != value and (strict or name == "partitions"):
            advice = "" if name == "partitions" else "; `verify --repair` rebuilds the indexes with the new value"
            raise StoreMismatch(f"UPVOTE_{name.upper()} is {value:g}, but this store was created with {known}{advice}")
    return int(stored[0])


async def _write_orders(redis: RedisClient, partitions: int, orders: Sequence[Order]) -> None:
    """Set the orders of a new store. Without this field it has all orders."""
    if len(orders) < len(Order):
        fields = [
            ("HSET", keys.ranking(partition), ORDERS_FIELD, orders_to_write(orders)) for partition in range(partitions)
        ]
        names = " ".join(order.value for order in Order if order in orders)
        await redis.pipeline([*fields, ("HSETNX", keys.store(), "orders", names)])
