"""
Functions that damage a store so that `verify --repair` can repair it, and then return what `verify` finds: for each
fault where it is, what is there, and what should be there.

A `Scene` is a store that `tests/store/scene.py` has filled, with the keys of some articles, comments and users. `hash`
is the key of the article `open`, which is open to votes, `voted` and `downvoted` those of its upvoters and downvoters,
`member` its name in sorted sets, and `account` the key of its poster Alice. `ghost` is a number that no article has. A
place is an article or a comment in a sorted set.
"""

from collections.abc import Callable

from store import flags, followed, keys, links, listings, threads
from store.held_edits import HELD_EDIT
from store.ranking.formulas import ORDERS, best
from tests.store.scene import WEEK, Scene

GRACE = 60_000  # milliseconds that sets of voters live on after voting has closed
VOTE_SCORE = 432_000  # milliseconds that a vote is worth in the order SCORE
NOTHING = "nothing"
Expected = tuple[str, str, str]  # where, what `verify` finds there, what it expects


def votes_of_another_time(scene: Scene) -> list[Expected]:
    scene.redis.hset(scene.hash, mapping={"up": 7, "down": 0})
    return [(f"{scene.hash} up", "7", "3"), (f"{scene.hash} down", "0", "1")]


def votes_lost_while_open(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.hash, "up", "down")
    return [(f"{scene.hash} up", NOTHING, "3"), (f"{scene.hash} down", NOTHING, "1")]


def votes_of_an_import(scene: Scene) -> list[Expected]:
    story = keys.article(scene.partition, scene.story)
    scene.redis.hset(story, "up", 1)
    return [(f"{story} up", "1", "9")]


def voter_in_both_sets(scene: Scene) -> list[Expected]:
    scene.redis.sadd(scene.downvoted, "bob")
    return [(f"{scene.downvoted} bob", "there", "in one set only")]


def poster_who_has_not_voted(scene: Scene) -> list[Expected]:
    scene.redis.srem(scene.voted, "Alice")
    return [(f"{scene.voted} Alice", NOTHING, "there")]


def voters_that_stay_for_ever(scene: Scene) -> list[Expected]:
    scene.redis.persist(scene.voted)
    scene.redis.persist(scene.downvoted)
    most = f"at most {WEEK * 1000 + GRACE}"
    return [(f"{scene.voted} TTL", "none", most), (f"{scene.downvoted} TTL", "none", most)]


def voters_of_no_article(scene: Scene) -> list[Expected]:
    ghosts = [keys.voted(scene.partition, scene.ghost), keys.downvoted(scene.partition, scene.ghost)]
    for ghost in ghosts:
        scene.redis.sadd(ghost, "bob")
    return [(ghost, "there", "nothing, as there is no such article or comment") for ghost in ghosts]


def voters_of_a_closed_article(scene: Scene) -> list[Expected]:
    voted = keys.voted(scene.partition, scene.closed.number)
    scene.redis.sadd(voted, "Alice", "bob")
    return [(f"{voted} TTL", "none", "at most 0")]


def places_at_wrong_values(scene: Scene) -> list[Expected]:
    posted_at = scene.open.posted_at
    values = {"score": posted_at + 2 * VOTE_SCORE, "time": posted_at, "votes": 2}  # by order
    by_index = {keys.index(scene.partition, order): value for order, value in values.items()}
    by_index |= {keys.group(scene.partition, "show", order): value for order, value in values.items()}
    by_index |= {listings.GOOD_ARTICLES(scene.partition): posted_at, scene.timeline: posted_at}
    for index in by_index:
        scene.redis.zadd(index, {scene.member: 5})
    return [(f"{index} {scene.member}", "5", str(value)) for index, value in by_index.items()]


def places_lost(scene: Scene) -> list[Expected]:
    indexes = [keys.index(scene.partition, order) for order in ORDERS]
    indexes += [keys.group(scene.partition, "show", order) for order in ORDERS]
    values = {
        index: scene.redis.zscore(index, scene.member) for index in [*indexes, listings.GOOD_ARTICLES(scene.partition)]
    }
    for index in values:
        scene.redis.zrem(index, scene.member)
    return [(f"{index} {scene.member}", NOTHING, f"{value:.17g}") for index, value in values.items()]


def timeline_without_an_article(scene: Scene) -> list[Expected]:
    """
    Karma and the time of the newest post are computed from the timeline, so they are reported, too. Its repair mends
    all. The article before was posted 5 ms earlier.
    """
    scene.redis.zrem(scene.timeline, scene.member)
    return [
        (f"{scene.timeline} {scene.member}", NOTHING, str(scene.open.posted_at)),
        (f"{scene.account} karma", "8", "7"),
        (f"{keys.newest_posts(scene.partition)} Alice", str(scene.open.posted_at), str(scene.open.posted_at - 5)),
    ]


def places_of_no_article(scene: Scene) -> list[Expected]:
    indexes = [keys.index(scene.partition, order) for order in ORDERS]
    indexes += [keys.group(scene.partition, "show", order) for order in ORDERS]
    indexes += [listings.GOOD_ARTICLES(scene.partition), scene.timeline]
    members = [keys.member(scene.ghost), f"0{scene.open.number}", "odd"]
    for index in indexes:
        scene.redis.zadd(index, dict.fromkeys(members, 3))
    return [(f"{index} {member}", "3", NOTHING) for index in indexes for member in members]


def places_by_link_lost(scene: Scene) -> list[Expected]:
    scene.redis.zrem(scene.links, scene.member)
    return [(f"{scene.links} {scene.member}", NOTHING, f"{scene.open.posted_at}")]


def digest_of_a_link_lost(scene: Scene) -> list[Expected]:
    """Without the digest, the entry in the index of links does not belong there."""
    scene.redis.hdel(scene.hash, links.FIELD)
    place = (f"{scene.links} {scene.member}", str(scene.open.posted_at), NOTHING)
    return [(f"{scene.hash} {links.FIELD}", NOTHING, scene.links.rpartition(":")[2]), place]


def places_of_another_link(scene: Scene) -> list[Expected]:
    other = links.LINKS(scene.partition, "0" * links.DIGEST_LENGTH)
    scene.redis.zadd(other, {scene.member: scene.open.posted_at})
    scene.redis.zadd(scene.links, {keys.member(scene.ghost): 3})
    return [
        (f"{other} {scene.member}", str(scene.open.posted_at), NOTHING),
        (f"{scene.links} {keys.member(scene.ghost)}", "3", NOTHING),
    ]


def article_in_a_group_that_it_does_not_name(scene: Scene) -> list[Expected]:
    indexes = [keys.group(scene.partition, "show-not", order) for order in ORDERS]
    for index in indexes:
        scene.redis.zadd(index, {scene.member: 3})
    return [(f"{index} {scene.member}", "3", NOTHING) for index in indexes]


def visible_article_among_the_held(scene: Scene) -> list[Expected]:
    held = keys.held(scene.partition, "alice")
    scene.redis.zadd(held, {scene.member: 3})
    return [(f"{held} {scene.member}", "3", NOTHING)] * 2  # found with the article, and with the members of `held`


def article_on_the_timeline_of_somebody_else(scene: Scene) -> list[Expected]:
    names, partition_of = map("eve-{}".format, range(1000)), scene.store.site.partition_of_user
    eve = next(name for name in names if partition_of(name) == scene.partition)
    scene.redis.zadd(keys.timeline(scene.partition, eve), {scene.member: 3})
    return [(f"{keys.timeline(scene.partition, eve)} {scene.member}", "3", NOTHING)]


def article_that_is_not_good(scene: Scene) -> list[Expected]:
    member = keys.member(scene.closed.number)
    scene.redis.zadd(listings.GOOD_ARTICLES(scene.partition), {member: scene.closed.posted_at})
    return [(f"{listings.GOOD_ARTICLES(scene.partition)} {member}", str(scene.closed.posted_at), NOTHING)]


def group_not_named(scene: Scene) -> list[Expected]:
    scene.redis.zrem(keys.groups(scene.partition), "ask")
    return [(f"{keys.groups(scene.partition)} ask", NOTHING, "0")]


def group_without_articles(scene: Scene) -> list[Expected]:
    scene.redis.zadd(keys.groups(scene.partition), {"empty": 0})
    return [(f"{keys.groups(scene.partition)} empty", "0", NOTHING)]


def listed_group_not_named(scene: Scene) -> list[Expected]:
    groups = keys.groups(scene.store.site.partition_of_group("lua"))
    scene.redis.zrem(groups, "lua")
    return [(f"{groups} lua", NOTHING, "0")]


def karma_wrong(scene: Scene) -> list[Expected]:
    scene.redis.hset(scene.account, "karma", 77)
    return [(f"{scene.account} karma", "77", "8")]


def karma_lost(scene: Scene) -> list[Expected]:
    scene.redis.hdel(scene.account, "karma")
    return [(f"{scene.account} karma", NOTHING, "8")]


def poster_by_a_wrong_time(scene: Scene) -> list[Expected]:
    scene.redis.zadd(keys.newest_posts(scene.partition), {"Alice": 1})
    return [(f"{keys.newest_posts(scene.partition)} Alice", "1", str(scene.open.posted_at))]


def poster_lost(scene: Scene) -> list[Expected]:
    scene.redis.zrem(keys.newest_posts(scene.partition), "Alice")
    return [(f"{keys.newest_posts(scene.partition)} Alice", NOTHING, str(scene.open.posted_at))]


def poster_without_articles(scene: Scene) -> list[Expected]:
    posters = keys.newest_posts(scene.store.site.partition_of_user("bob"))
    scene.redis.zadd(posters, {"bob": 1})
    return [(f"{posters} bob", "1", NOTHING)]


def poster_who_is_nobody(scene: Scene) -> list[Expected]:
    scene.redis.zadd(keys.newest_posts(scene.partition), {"ALICE": 1})
    return [(f"{keys.newest_posts(scene.partition)} ALICE", "1", NOTHING)]


def sequence_too_low(scene: Scene) -> list[Expected]:
    highest = str(scene.answer // keys.SLOTS)
    scene.redis.set(keys.sequence(scene.partition), 1)
    return [(keys.sequence(scene.partition), "1", f"at least {highest}")]


def sequence_lost(scene: Scene) -> list[Expected]:
    highest = str(scene.answer // keys.SLOTS)
    scene.redis.delete(keys.sequence(scene.partition))
    return [(keys.sequence(scene.partition), NOTHING, f"at least {highest}")]


def numbers_of_stories_lost(scene: Scene) -> list[Expected]:
    key = keys.numbered(scene.partition)
    scene.redis.delete(key)
    imported = scene.redis.hvals(keys.imported(scene.partition))
    return [
        (f"{key} {sequence}", NOTHING, f"{sequence}")
        for sequence in sorted(int(each) // keys.SLOTS for each in imported)
    ]


def follow_without_its_followers_side(scene: Scene) -> list[Expected]:
    key = followed.followers(scene.partition, "alice")
    scene.redis.zrem(key, "bob")
    return [(f"{key} bob", NOTHING, str(scene.clock.now))]


def follow_of_the_followers_side_alone(scene: Scene) -> list[Expected]:
    key = followed.followers(scene.partition, "alice")
    scene.redis.zadd(key, {"carol": 5})
    return [(f"{key} carol", "5", NOTHING)]


def follow_of_a_group_without_its_followers_side(scene: Scene) -> list[Expected]:
    key = followed.group_followers(scene.store.site.partition_of_group("show"), "show")
    scene.redis.zrem(key, "bob")
    return [(f"{key} bob", NOTHING, str(scene.clock.now))]


def follow_of_a_group_of_the_followers_side_alone(scene: Scene) -> list[Expected]:
    key = followed.group_followers(scene.store.site.partition_of_group("show"), "show")
    scene.redis.zadd(key, {"carol": 5})
    return [(f"{key} carol", "5", NOTHING)]


def session_that_never_ends(scene: Scene) -> list[Expected]:
    scene.redis.persist(scene.session)
    return [(f"{scene.session} TTL", "none", "at most 86400000")]


def details_of_no_session(scene: Scene) -> list[Expected]:
    key, digest = keys.logins(scene.partition, "alice"), "ab" * 32
    scene.redis.hset(key, digest, "ab 1 curl")
    return [(f"{key} {digest}", "ab 1 curl", NOTHING)]


def idempotency_key_that_stays(scene: Scene) -> list[Expected]:
    (key,) = scene.redis.scan_iter("posted:*")
    scene.redis.persist(key)
    return [(f"{key} TTL", "none", "at most 86400000")]


def derived_key_of_a_wrong_type(scene: Scene) -> list[Expected]:
    indexes = [
        keys.index(scene.partition, "score"),
        keys.group(scene.partition, "show", "time"),
        scene.timeline,
        keys.groups(scene.partition),
    ]
    for index in indexes:
        scene.redis.delete(index)
        scene.redis.rpush(index, "odd")
    return [(index, "a list", "a zset before more can be verified") for index in indexes]


def store_made_with_another_policy(scene: Scene) -> list[Expected]:
    scene.redis.hset(keys.store(), mapping={"vote_score": "100.0", "good_votes": "3"})
    return [("store vote_score", "100.0", "432.0"), ("store good_votes", "3", "2")]


def comment_with_wrong_counts(scene: Scene) -> list[Expected]:
    scene.redis.hset(scene.comment_hash, mapping={"up": 7, "replies": 5, "slot": 1})
    expected = {"up": ("7", "2"), "replies": ("5", "1"), "slot": ("1", str(keys.slot("carol")))}
    karma = (f"{keys.user(scene.store.site.partition_of_user('carol'), 'carol')} comment_karma", "2", "7")
    return [karma, *((f"{scene.comment_hash} {field}", *values) for field, values in expected.items())]


def depth_of_an_answer_wrong(scene: Scene) -> list[Expected]:
    answer = keys.comment(scene.partition, scene.answer)
    scene.redis.hset(answer, "depth", 9)
    return [(f"{answer} depth", "9", "2")]


def voter_of_a_comment_in_both_sets(scene: Scene) -> list[Expected]:
    downvoted = keys.downvoted(scene.partition, scene.comment)
    scene.redis.sadd(downvoted, "bob")
    return [(f"{downvoted} bob", "there", "in one set only")]


def comment_missing_among_its_siblings(scene: Scene) -> list[Expected]:
    index, member = threads.REPLIES(scene.partition, scene.stub, "best"), keys.member(scene.comment)
    value = scene.redis.zscore(index, member)
    scene.redis.delete(index)
    replies = (f"{keys.comment(scene.partition, scene.stub)} replies", "1", "0")
    return [replies, (f"{index} {member}", NOTHING, f"{value:.17g}")]


def sibling_that_is_no_comment(scene: Scene) -> list[Expected]:
    index, member = threads.REPLIES(scene.partition, scene.open.number, "votes"), keys.member(scene.ghost)
    scene.redis.zadd(index, {member: 3})
    return [(f"{index} {member}", "3", NOTHING)]


def path_that_is_not_below_its_parent(scene: Scene) -> list[Expected]:
    tree = keys.tree(scene.partition, scene.open.number)
    before = next(member for member in scene.redis.zrange(tree, 0, -1) if member.endswith(str(scene.comment)))
    label = next(member for member in scene.redis.zrange(tree, 0, -1) if member.endswith(str(scene.answer))).split()[0]
    scene.redis.hset(scene.comment_hash, "path", "zz 5")
    # a path is a text and an index; its label is the text and a digit for the index, "4" for 5
    hashes = {scene.comment_hash: "zz4", keys.comment(scene.partition, scene.answer): label}
    paths = [(f"{hash} path", found, "a path below that of the parent") for hash, found in hashes.items()]
    return [*paths, (f"{tree} {before}", "0", NOTHING)]


def visible_comment_among_the_stubs(scene: Scene) -> list[Expected]:
    stubs = threads.STUBS(scene.partition, scene.open.number)
    tree = scene.redis.zrange(keys.tree(scene.partition, scene.open.number), 0, -1)
    member = next(member for member in tree if member.endswith(str(scene.answer)))
    scene.redis.zadd(stubs, {member: 0})
    counts = [(f"{scene.hash} comments", "2", "1"), (f"{scene.comment_hash} replies", "1", "0")]
    place = (f"{stubs} {member}", "0", NOTHING)
    return [place, place, *counts]  # found with the comment, and with the members of `stubs`


def deleted_comments_without_replies(scene: Scene) -> list[Expected]:
    """An interrupted deletion has left two, one below the other. Only the lower one is found."""
    article, parent = scene.open.number, scene.answer
    path, index = scene.redis.hget(keys.comment(scene.partition, parent), "path").split(" ")
    for depth, sequence in ((3, 1), (4, 3)):  # sequences of imported comments are odd
        number = scene.answer + sequence * keys.SLOTS
        index = str(int(index) + 1)
        fields = {"article": article, "parent": parent, "depth": depth, "time": 5, "up": 1, "down": 0}
        hash = keys.comment(scene.partition, number)
        scene.redis.hset(hash, mapping={**fields, "state": "deleted", "path": f"{path} {index}"})
        value = best(1, 0, scene.store.site.policy.best_z)
        scene.redis.zadd(threads.REPLIES(scene.partition, parent, "best"), {keys.member(number): value})
        for key in (keys.tree(scene.partition, article), threads.STUBS(scene.partition, article)):
            scene.redis.zadd(key, {f"{path}{int(index) - 1} {number}": 0})
        parent = number
    return [(hash, "there", "nothing, as it is deleted and has no replies")]


def karma_of_comments_wrong(scene: Scene) -> list[Expected]:
    account = keys.user(scene.store.site.partition_of_user("carol"), "carol")
    before = scene.redis.hget(account, "comment_karma")
    scene.redis.hset(account, "comment_karma", 70)
    return [(f"{account} comment_karma", "70", before)]


def list_of_comments_with_somebody_elses(scene: Scene) -> list[Expected]:
    own, member = keys.comments(scene.store.site.partition_of_user("carol"), "carol"), keys.member(scene.answer)
    scene.redis.zadd(own, {member: 5})
    return [(f"{own} {member}", "5", NOTHING)]


def notification_lost(scene: Scene) -> list[Expected]:
    inbox, member = scene.inbox("dave"), f"{keys.member(scene.comment)} mention comment"
    at = scene.redis.zscore(inbox, member)
    scene.redis.delete(inbox)
    return [(f"{inbox} {member}", NOTHING, f"{at:.0f}")]


def notification_too_early(scene: Scene) -> list[Expected]:
    inbox, member = scene.inbox("carol"), f"{keys.member(scene.answer)} reply comment"
    at = scene.redis.zscore(inbox, member)
    scene.redis.zadd(inbox, {member: 5})
    return [(f"{inbox} {member}", "5", f"{at:.0f}")]


def notifications_of_nothing(scene: Scene) -> list[Expected]:
    inbox = scene.inbox("carol")
    members = [
        f"{keys.member(scene.answer)} mention comment",
        f"{keys.member(scene.comment)} reply comment",
        f"{keys.member(scene.open.number)} mention article",
        f"{keys.member(scene.ghost)} reply comment",
        "odd",
    ]
    scene.redis.zadd(inbox, dict.fromkeys(members, 5))
    return [(f"{inbox} {member}", "5", NOTHING) for member in members]


def inbox_of_nobody(scene: Scene) -> list[Expected]:
    inbox, member = scene.inbox("nobody"), f"{keys.member(scene.comment)} mention comment"
    scene.redis.zadd(inbox, {member: 5})
    return [(f"{inbox} {member}", "5", NOTHING)]


def written_action(scene: Scene) -> tuple[str, str]:
    """An action on `open` in the group show, without entries in the indexes: its key, and the member of the indexes."""
    hash = keys.action(scene.partition, scene.ghost)
    fields = {"kind": "lock", "at": 1_470_000_000_000, "moderator": "bob", "subject": scene.open.id, "reason": "heat"}
    scene.redis.hset(hash, mapping=fields | {"group": "show"})
    return hash, keys.member(scene.ghost)


def visible_comment_in_the_queue_of_pending_ones(scene: Scene) -> list[Expected]:
    queue, member = flags.QUEUE(scene.partition, "pending", "group:video"), keys.member(scene.answer)
    scene.redis.zadd(queue, {member: 5})
    return [(f"{queue} {member}", "5", NOTHING)]


def edit_of_what_is_removed(scene: Scene) -> list[Expected]:
    edit = HELD_EDIT(scene.partition, scene.ghost)
    scene.redis.hset(edit, mapping={"at": 5, "held_by": "words", "most_mentions": 10, "content": "a text"})
    return [(edit, "an edit", NOTHING)]


def edit_without_a_time(scene: Scene) -> list[Expected]:
    edit = HELD_EDIT(scene.partition, scene.story)
    scene.redis.hset(edit, mapping={"held_by": "words", "most_mentions": 10, "content": "a text"})
    return [(edit, "an edit", NOTHING)]


def place_of_no_action(scene: Scene) -> list[Expected]:
    index = keys.actions(scene.partition, "group:ask")
    scene.redis.zadd(index, {keys.member(scene.ghost): 5, "odd": 6})
    return [(f"{index} {keys.member(scene.ghost)}", "5", NOTHING), (f"{index} odd", "6", NOTHING)]


def moderator_without_a_role(scene: Scene) -> list[Expected]:
    indexes = [keys.moderators(scene.partition, scope) for scope in ("site", "group:show")]
    for index in indexes:
        scene.redis.zadd(index, {"Alice": 5})
    return [(f"{index} Alice", "5", NOTHING) for index in indexes]


REPAIRABLE: list[Callable[[Scene], list[Expected]]] = [
    votes_of_another_time,
    votes_lost_while_open,
    votes_of_an_import,
    voter_in_both_sets,
    poster_who_has_not_voted,
    voters_that_stay_for_ever,
    voters_of_no_article,
    voters_of_a_closed_article,
    places_at_wrong_values,
    places_lost,
    timeline_without_an_article,
    places_of_no_article,
    places_by_link_lost,
    digest_of_a_link_lost,
    places_of_another_link,
    article_in_a_group_that_it_does_not_name,
    visible_article_among_the_held,
    article_on_the_timeline_of_somebody_else,
    article_that_is_not_good,
    group_not_named,
    group_without_articles,
    listed_group_not_named,
    karma_wrong,
    karma_lost,
    poster_by_a_wrong_time,
    poster_lost,
    poster_without_articles,
    poster_who_is_nobody,
    sequence_too_low,
    sequence_lost,
    numbers_of_stories_lost,
    follow_without_its_followers_side,
    follow_of_the_followers_side_alone,
    follow_of_a_group_without_its_followers_side,
    follow_of_a_group_of_the_followers_side_alone,
    session_that_never_ends,
    details_of_no_session,
    idempotency_key_that_stays,
    derived_key_of_a_wrong_type,
    comment_with_wrong_counts,
    depth_of_an_answer_wrong,
    voter_of_a_comment_in_both_sets,
    comment_missing_among_its_siblings,
    sibling_that_is_no_comment,
    path_that_is_not_below_its_parent,
    visible_comment_among_the_stubs,
    deleted_comments_without_replies,
    karma_of_comments_wrong,
    list_of_comments_with_somebody_elses,
    notification_lost,
    notification_too_early,
    notifications_of_nothing,
    inbox_of_nobody,
    visible_comment_in_the_queue_of_pending_ones,
    edit_of_what_is_removed,
    edit_without_a_time,
    place_of_no_action,
    moderator_without_a_role,
    store_made_with_another_policy,
]
