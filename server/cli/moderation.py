"""
The command `moderation`: `revert --by NAME --since TIME` undoes what a moderator did, `redact ACTION` removes the texts
of an action. Both act as `operator`, the name in the log of moderation for whoever has a shell on the server.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from server.cli import opened_store
from server.errors import CommandError
from server.settings import read_settings
from store import keys, listings, moderation, moderation_records, records, redactions, reverts, validation
from store.errors import AlreadyReverted, Refusal
from store.listings import Window
from store.moderation_records import ModerationAction
from store.reverts import REVERTERS
from store.roles import OPERATOR
from store.site import Site
from store.store import Store

ACTIONS_AT_ONCE = 100  # in a round trip
REASON = "all actions of this moderator since then are reverted"


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="revert | redact")

    revert = actions.add_parser("revert", help="revert what a moderator did since a time, the newest first")
    revert.add_argument("--by", required=True, type=_username, metavar="NAME", help="the name of the moderator")
    revert.add_argument("--since", required=True, type=_instant, metavar="TIME", help="such as 2026-11-23T14:00:00Z")
    revert.add_argument("--reason", default=REASON, help="why, for everybody to read in the log of moderation")
    revert.set_defaults(action=_revert)

    redact = actions.add_parser("redact", help="replace the reason and the note of an action by [redacted]")
    redact.add_argument("id", type=_number, metavar="ACTION", help="its id, such as action:1541")
    redact.add_argument("--only", choices=redactions.TEXTS, help="only one of them")
    redact.set_defaults(action=_redact)


def run(arguments: Namespace) -> int:
    async def act(store: Store) -> int:
        code: int = await arguments.action(store, arguments)
        return code

    return opened_store.run(read_settings(), act)


async def _revert(store: Store, arguments: Namespace) -> int:
    """
    Revert all actions of a moderator since an instant. Exit code 1 if one stays. An action that somebody else reverts
    meanwhile is neither counted nor a failure.

    Raises:
        CommandError: nobody has this name, nor has an action since then: `operator` has actions, and is no user.
    """
    found, done, failed = 0, 0, 0
    async for action in _actions_by(store.site, arguments.by, arguments.since):
        found += 1
        if action.reverted_by:
            continue
        if action.kind not in REVERTERS:
            print(f"{action.id} is of the kind {action.kind.name}, which cannot be reverted", file=sys.stderr)
            failed += 1
            continue
        try:
            await reverts.revert(store.site, OPERATOR, action.number, arguments.reason)
        except AlreadyReverted:
            continue
        except Refusal as refusal:
            print(f"{action.id} was not reverted: {refusal.message}", file=sys.stderr)
            failed += 1
        else:
            print(f"reverted {action.id}: {action.kind.name} {action.subject_id}")
            done += 1
    account = keys.user(store.site.partition_of_user(arguments.by), arguments.by)  # `operator` has none
    if not found and not await store.site.redis.run(("EXISTS", account)):
        raise CommandError(f"there is no user:{arguments.by.lower()}")
    print(f"{done} of {arguments.by} reverted" + (f", {failed} not" if failed else ""))
    return 1 if failed else 0


async def _redact(store: Store, arguments: Namespace) -> int:
    texts = [arguments.only] if arguments.only else redactions.TEXTS
    try:
        done = await redactions.redact(store.site, OPERATOR, arguments.id, texts)
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal
    assert done.action
    print(f"redacted {done.action.id}")
    return 0


async def _actions_by(site: Site, moderator: str, since: int) -> AsyncIterator[ModerationAction]:
    """What a moderator did since an instant (unix milliseconds), the newest first."""
    listing = moderation.log(site, "all")._replace(lowest=str(since))
    window, has_more = Window(ACTIONS_AT_ONCE), True
    while has_more:
        reads = listings.partition_pages(listing, window)
        replies = await site.redis.pipeline([read.command for read in reads])
        parts = [read.result(reply) for read, reply in zip(reads, replies, strict=True)]
        page = listings.merge(parts, window)
        numbers = [position.number for position in page.positions]
        found = await site.redis.pipeline(
            [("HGETALL", keys.action(site.partition_of_article(number), number)) for number in numbers]
        )
        for number, fields in zip(numbers, found, strict=True):
            action = moderation_records.moderation_action(number, fields)
            if action and action.moderator.lower() == moderator.lower():
                yield action
        has_more = page.below > 0  # how many older ones there are
        window = Window(ACTIONS_AT_ONCE, beyond=page.positions[-1]) if has_more else window


def _username(text: str) -> str:
    if not validation.USERNAME.fullmatch(text):
        raise ArgumentTypeError(f"{text[:60]} is no username")
    return text


def _instant(text: str) -> int:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text[:60]} is no time such as 2026-11-23T14:00:00Z") from error
    return round((instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp() * 1000)


def _number(text: str) -> int:
    number = records.action_number(text)
    if number is None:
        raise ArgumentTypeError(f"{text[:60]} is no id of an action, such as action:1541")
    return number
