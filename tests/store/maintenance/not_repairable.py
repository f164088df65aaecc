"""
Functions that damage a store so that nothing can repair it, and then return what `verify` finds: for each fault where
it is, what is there, and what should be there.

A `Scene` is a store that `tests/store/scene.py` has filled, with the keys of some articles, comments and users. `hash`
is the key of an article that is open to votes, `voted` that of its voters, `account` that of its poster Alice.
"""

from collections.abc import Callable

from store import appeals, followed, keys, server_keys
from tests.store.maintenance.repairable import NOTHING, Expected, written_action
from tests.store.scene import Scene


def title_lost(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.hash, "title")
    return [(f"{scene.hash} title", NOTHING, "a usable title")]


def time_and_groups_lost(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.hash, "time", "groups")
    return [(f"{scene.hash} {field}", NOTHING, f"a usable {field}") for field in ("groups", "time")]


def poster_lost_from_the_hash(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.hash, "poster")
    return [(f"{scene.hash} poster", NOTHING, "a usable poster")]


def edited_at_an_odd_time(scene: Scene) -> list[Expected]:
    scene.redis.hset(scene.hash, "edited", "today")
    return [(f"{scene.hash} edited", "today", "a usable edited")]


def votes_lost_when_closed(scene: Scene) -> list[Expected]:
    closed = keys.article(scene.partition, scene.closed.number)
    scene.redis.hdel(closed, "up")
    scene.redis.hset(closed, "down", -1)
    return [(f"{closed} down", "-1", "a usable down"), (f"{closed} up", NOTHING, "a usable up")]


def voters_lost_while_open(scene: Scene) -> list[Expected]:
    scene.redis.delete(scene.voted)
    return [(scene.voted, NOTHING, "there while voting is open")]


def user_lost(scene: Scene) -> list[Expected]:
    scene.redis.delete(scene.account)
    numbers = (scene.closed.number, scene.open.number, scene.story)
    return [
        *((f"{keys.article(scene.partition, each)} poster", "Alice", "a user of this partition") for each in numbers),
        (followed.followers(scene.partition, "alice"), "there", "a user's"),
        (f"{keys.newest_posts(scene.partition)} Alice", str(scene.open.posted_at), NOTHING),
    ]


def user_without_a_joining_time(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.account, "joined")
    return [(f"{scene.account} joined", NOTHING, "a usable joined")]


def invalid_seen_mark(scene: Scene) -> list[Expected]:
    scene.redis.hset(scene.account, "seen", "odd")
    return [(f"{scene.account} seen", "odd", "a usable seen")]


def seen_mark_out_of_range(scene: Scene) -> list[Expected]:
    scene.redis.hset(scene.account, "seen", "9000000000000000.0 1")
    return [(f"{scene.account} seen", "9000000000000000.0 1", "a usable seen")]


def session_without_an_end(scene: Scene) -> list[Expected]:
    scene.redis.set(scene.session, "Alice")
    return [(scene.session, "Alice", "usable")]


def import_without_an_article_number(scene: Scene) -> list[Expected]:
    imported = keys.imported(scene.partition)
    scene.redis.hset(imported, "2", "odd")
    return [(f"{imported} 2", "odd", "the number of an article of this partition")]


def group_listed_at_an_odd_time(scene: Scene) -> list[Expected]:
    place = keys.place(scene.store.site.partition_of_group("lua"), "lua")
    scene.redis.hset(place, "listed", "odd")
    scene.redis.hdel(place, "created")
    return [(f"{place} created", NOTHING, "a usable created"), (f"{place} listed", "odd", "a usable listed")]


def unknown_keys(scene: Scene) -> list[Expected]:
    other = scene.store.site.partitions
    odd = [
        "odd",
        keys.article(scene.partition, "odd"),
        keys.article(scene.partition, scene.open.number + 1),
        keys.index(other, "time"),
        keys.user(other, "alice"),
        keys.group(scene.partition, "show", "odd"),
        keys.session(scene.partition, "odd"),
        f"{keys.index(scene.partition, 'time')}:odd",
    ]
    if other == 1:
        # with one partition, every number belongs to it
        odd.remove(keys.article(scene.partition, scene.open.number + 1))
    for key in odd:
        scene.redis.set(key, "odd")
    scene.redis.set(b"\xff\n", "odd")
    return [(key, "there", "no key of this store") for key in [*odd, "\udcff\n"]]


def server_key_without_a_digest(scene: Scene) -> list[Expected]:
    scene.redis.hset(server_keys.serverkeys(server_keys.PARTITION), "shop", "secret")
    return [(f"{server_keys.serverkeys(server_keys.PARTITION)} shop", "secret", "a name and a digest, in partition 0")]


def article_of_a_wrong_type(scene: Scene) -> list[Expected]:
    scene.redis.delete(scene.hash)
    scene.redis.sadd(scene.hash, "odd")
    return [(scene.hash, "a set", "a hash before more can be verified")]


def comment_without_content(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.comment_hash, "content")
    return [(f"{scene.comment_hash} content", NOTHING, "a usable content")]


def action_without_a_moderator(scene: Scene) -> list[Expected]:
    hash, member = written_action(scene)
    scene.redis.hdel(hash, "moderator")
    scene.redis.zadd(keys.actions(scene.partition, "all"), {member: 5})
    return [(hash, f"action {scene.ghost}: it has no moderator", "a usable action")]


def appeal_without_a_text(scene: Scene) -> list[Expected]:
    hash = appeals.appeal(scene.partition, scene.ghost)
    scene.redis.hset(hash, mapping={"username": "Alice", "at": 5})
    return [(hash, f"appeal against action {scene.ghost}: it has no text", "a usable appeal")]


NOT_REPAIRABLE: list[Callable[[Scene], list[Expected]]] = [
    title_lost,
    time_and_groups_lost,
    poster_lost_from_the_hash,
    edited_at_an_odd_time,
    votes_lost_when_closed,
    voters_lost_while_open,
    user_lost,
    user_without_a_joining_time,
    invalid_seen_mark,
    seen_mark_out_of_range,
    session_without_an_end,
    import_without_an_article_number,
    group_listed_at_an_odd_time,
    unknown_keys,
    server_key_without_a_digest,
    article_of_a_wrong_type,
    comment_without_content,
    action_without_a_moderator,
    appeal_without_a_text,
]
