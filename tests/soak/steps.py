"""
Runs each kind of step of a history, a list of requests and events, on a server and on the model of it: what is sent and
done, and when the answers have to be right. The mirror is the SQL database that follows what is written to Redis.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import httpx

from tests.soak import bearers, exporting, issuers, leaving, listening, moderation, resets, searches, stepwise
from tests.soak.comparing import difference
from tests.soak.documents import input_variable
from tests.soak.history import SHELL, Ref, Step, StepKind, resolved
from tests.soak.input_checks import is_id, number_of
from tests.soak.model import Mirror
from tests.soak.running import PATIENCE, Difference, HistoryRun, any_cursor

FOUND_WITHIN = 20.0  # seconds in which a search finds a change, on a busy machine: usually well under one
LISTS_FOLLOW = 1.5  # seconds until lists of other users lack what a ban has removed: one, and some for a busy machine
MOST_ROUNDS = 40  # how often the reads of a step are sent while articles leave Redis


async def run_step(run: HistoryRun, step: Step) -> None:
    """
    Raises:
        Difference: the server does not answer as the model does.
    """
    run.begin(step.at)
    try:
        await KINDS.get(step.kind, HistoryRun.send)(run, step)
    except Difference as found:
        found.step = step  # as a whole, not the part of it that differs
        raise
    run.model.reached.count(f"step {step.kind}")


async def _drop(run: HistoryRun, step: Step) -> None:
    run.server.drop_connections()
    run.dropped_at = time.monotonic()


async def _expire(run: HistoryRun, step: Step) -> None:
    run.model.end_sessions()


async def _restart(run: HistoryRun, step: Step) -> None:
    await (run.server.stop() if step.kind is StepKind.RESTART else run.server.kill())
    await run.note_archived()
    run.server.start()
    await run.server.ready()


async def _send_one_by_one(run: HistoryRun, step: Step) -> None:
    """Send the same read for each of several viewers, one after the other."""
    for index, operation in enumerate(step.operations):
        connections = step.connections[index:]
        await run.send(replace(step, operations=(operation,), connections=connections))


async def _overtaken(run: HistoryRun, step: Step) -> None:
    """
    Send reads, and a write before they are answered; once it is answered, send the same reads again.

    The first reads may see the state before or after the write, the second have to see that after it.
    """
    *reads, write = step.operations
    early = [asyncio.create_task(run.ask(step, index)) for index in range(len(reads))]
    await asyncio.sleep(0)  # so that the reads are sent before the write
    written = await run.ask(step, len(reads))
    late = [
        asyncio.create_task(run.ask(step, index, skipped_connections=len(reads) + 1)) for index in range(len(reads))
    ]
    answers, again = await asyncio.gather(*early), await asyncio.gather(*late)
    await run.notes.note_numbers(write, written)
    before = [run.expected(each, hints={}) for each in reads]
    run.compare(step, write, written)
    for operation, old, first, second in zip(reads, before, answers, again, strict=True):
        run.compare(step, operation, second)
        run.compare_either(step, operation, old, first)


async def _search_after_write(run: HistoryRun, step: Step) -> None:
    """
    Send a write, and then searches. After a deletion the first answers have to be right; after other writes, one
    within `FOUND_WITHIN` seconds.
    """
    write, *others = step.operations
    await run.wait_for_mirror(step)
    await run.send(replace(step, operations=(write,)))
    is_deletion = any(name.startswith("delete") for _, name in write.mutations)
    for index, operation in enumerate(others, 1):
        answered = await run.ask(step, index)
        if not is_deletion:
            answered = await _ask_until_right(run, step, index, answered)
        # A cursor of a user has the karma that the database knew, which may be older than the model's.
        run.compare(step, operation, answered, notes_cursors=False)
    run.model.reached.count("searches right after a deletion", len(others) if is_deletion else 0)


async def _ask_until_right(run: HistoryRun, step: Step, index: int, answered: dict[str, Any]) -> dict[str, Any]:
    """The first answer that is right, or the last one."""
    until, operation = time.monotonic() + FOUND_WITHIN, step.operations[index]
    expected = run.expected(operation, hints={})
    while difference(expected, answered, any_cursor) and time.monotonic() < until:
        run.model.reached.count("searches before the database has a change")
        await asyncio.sleep(0.02)
        answered = await run.ask(step, index)
    return answered


async def _archive(run: HistoryRun, step: Step) -> None:
    """Send the reads of a step until no more articles leave: what is answered does not change."""
    assert step.limits
    await run.note_archived()
    run.model.note_long_lists(step.limits.listed_comments)
    run.archiving = await run.server.archive(step.limits)
    run.model.is_leaving = True
    for _ in range(MOST_ROUNDS if step.operations else 0):
        is_over = run.archiving.done()
        await run.send(step)
        run.model.reached.count("reads while articles leave", 0 if is_over else len(step.operations))
        if is_over:
            await run.note_archived()
            break


async def _import(run: HistoryRun, step: Step) -> None:
    stories = [each for each in step.stories if each.poster.lower() in run.model.users]  # all, unless it was shortened
    await run.server.import_stories(stories)
    numbers = await _numbers_by_title(run)
    for story in stories:
        article = run.model.add_imported(numbers[story.title], story)
        run.notes.note_new(Ref(SHELL, (story.title,)), "article", article.number)


async def _numbers_by_title(run: HistoryRun) -> dict[str, int]:
    text = """query($after: String) { articles(order: TIME, first: 100, after: $after) {
        nodes { id title } pageInfo { hasNextPage endCursor } } }"""
    numbers: dict[str, int] = {}
    after, has_next = None, True
    while has_next:
        page = (await run.server.connections[0].ask(text, {"after": after}, token=None))["data"]["articles"]
        numbers |= {node["title"]: number_of(node["id"]) for node in page["nodes"]}
        after, has_next = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    return numbers


async def _make_admin(run: HistoryRun, step: Step) -> None:
    """Give a user the role of an admin by a command of the shell."""
    if step.admin not in run.model.users:  # a history that was shortened may lack the user
        return
    await run.server.grant_admin(step.admin)
    number = await run.notes.new_action(f"user:{step.admin}")
    moderation.grant_at_shell(run.model, step.admin, number)
    run.notes.note_new(Ref(SHELL, (step.admin,)), "action", number)


async def _log_in_with_token(run: HistoryRun, step: Step) -> None:
    """Exchange the token of an issuer for a session; its claims may also give roles to the user, and take them."""
    (operation,) = step.operations
    answered = await run.ask(step, index=0)
    user = ((answered.get("data") or {}).get("m0") or {}).get("user")
    numbers = await run.notes.new_actions(f"user:{user['username'].lower()}") if user else []
    run.model.roles_by_claims = numbers
    for index, number in enumerate(numbers):
        run.notes.note_new(issuers.role_ref(operation.number, index), "action", number)
    run.compare(step, operation, answered)


async def _reset(run: HistoryRun, step: Step) -> None:
    """Give a user a link by a command of the shell, and send what is done with it."""
    assert step.link
    _, name, _ = step.link.path  # as `World` writes it: "link", the user, and the instant
    user = run.model.users.get(str(name))
    if user is None:  # a history that was shortened may lack the user
        return
    token = run.notes.texts[step.link] = await run.server.reset_link(user.name)
    resets.issue_at_shell(run.model, user, token, step.link)
    await run.send(step)


async def _purge(run: HistoryRun, step: Step) -> None:
    """Purge a text by a command of the shell, beside reads: they see it before, or after."""
    await run.note_archived()
    id = run.notes.texts.get(step.purged, "") if step.purged else ""
    subject = run.model.text(id)
    if subject is None:  # a history that was shortened may lack the text
        return
    purging = asyncio.create_task(run.server.purge(id))
    answers = [await run.ask(step, index) for index in range(len(step.operations))]
    is_new = await purging
    before = [run.expected(each, hints={}) for each in step.operations]
    if is_new:
        number = await run.notes.new_action(id)
        moderation.purge_at_shell(run.model, subject, number)
        run.notes.note_new(Ref(SHELL, (id,)), "action", number)
    for operation, old, answered in zip(step.operations, before, answers, strict=True):
        run.model.reached.count("operations")
        run.compare_either(step, operation, old, answered)


async def _moderate_in_steps(run: HistoryRun, step: Step) -> None:
    """
    Send what a moderator does to all texts or votes of a user, wait until all of it is done, and send what the user
    then reads.
    """
    await run.note_archived()
    await run.wait_for_mirror(step)
    operation, *reads = step.operations
    answered = await run.ask(step, index=0)
    payload, connection = answered["data"]["m0"], run.server.connections[0]
    run.model.texts_of_ban = {}
    if payload["changed"]:
        is_revert = operation.mutations[0][1] == "revertModeration"
        given = resolved(operation.variables, run.notes.texts)[input_variable("m0")]
        done = given["actionId"] if is_revert else payload["action"]["id"]
        run.model.texts_of_ban = await stepwise.texts_of_ban(connection, run.model, done, is_revert=is_revert)
        if not await stepwise.votes_settled(connection, done):
            raise Difference(step, operation, f"the votes of {done} are not settled")
        await run.wait_for_mirror(step)  # which changes the counts of archived articles
    for index, number in enumerate(sorted(run.model.texts_of_ban.values())):
        run.notes.note_new(Ref(operation.number, ("texts", index)), "action", number)
    run.compare(step, operation, answered)
    articles = [run.model.articles[number_of(id)] for id in run.model.texts_of_ban if is_id("article", id)]
    if any(each.notified or run.threads.replies(each) for each in articles):
        await asyncio.sleep(LISTS_FOLLOW)
    for index, read in enumerate(reads, 1):
        run.compare(step, read, await run.ask(step, index))


async def _leave(run: HistoryRun, step: Step) -> None:
    """Delete a user, and wait until the server has replaced the name everywhere."""
    await run.note_archived()
    await run.wait_for_mirror(step)
    (operation,) = step.operations
    answered = await run.ask(step, index=0)
    if answered["data"]["m0"]["deletedUserId"]:
        run.server.clock.set(step.at + leaving.UNTIL_DONE)
        until = time.monotonic() + PATIENCE
        while await asyncio.to_thread(run.server.are_users_leaving):
            if time.monotonic() > until:
                raise Difference(step, operation, "the deletion of a user does not end")
            await asyncio.sleep(0.1)
        await run.wait_for_mirror(step)
    run.compare(step, operation, answered)


async def _export(run: HistoryRun, step: Step) -> None:
    await run.wait_for_mirror(step)
    (operation,) = step.operations
    token = resolved(operation.token, run.notes.texts)
    viewer = run.model.sessions.get(token) if token else None
    try:
        got = await exporting.export(run.server.port, token)
    except (OSError, httpx.HTTPError) as error:
        raise Difference(step, operation, f"no answer: {error!r}") from error
    if isinstance(got, int) or viewer is None:
        wrong = None if got == 401 and viewer is None else f"the export of {viewer} is {got}"
    else:
        wrong = exporting.difference(exporting.expected(run.model, viewer), got)
    if wrong:
        raise Difference(step, operation, wrong)
    run.model.reached.count("exports", viewer is not None)


async def _fault(run: HistoryRun, step: Step) -> None:
    """Begin a fault of the database, once it has all changes; or kill a worker, which the server restarts."""
    await run.note_archived()
    await run.wait_for_mirror(step)
    run.model.reached.count(f"fault {step.fault}")
    if step.fault == "worker killed":
        await run.server.kill_worker(step.at)
        return
    run.model.indexed = searches.snapshot(run.model)
    await asyncio.to_thread(run.server.database.begin, step.fault)
    run.model.mirror = Mirror.BEHIND if step.fault == "locked" else Mirror.AWAY


async def _heal(run: HistoryRun, step: Step) -> None:
    await asyncio.to_thread(run.server.database.heal)
    run.model.mirror = Mirror.UP
    await run.wait_for_mirror(step)


KINDS: Mapping[StepKind, Callable[[HistoryRun, Step], Awaitable[None]]] = {
    StepKind.RESTART: _restart,
    StepKind.KILL: _restart,
    StepKind.CONNECTIONS_BREAK: _drop,
    StepKind.SESSIONS_END: _expire,
    StepKind.READS_OVERTAKEN: _overtaken,
    StepKind.IMPORT: _import,
    StepKind.SUBSCRIBERS_OF_ARTICLE: listening.subscribe,
    StepKind.SUBSCRIBERS_OF_NEWS: listening.tell,
    StepKind.EACH_VIEWER_READS: _send_one_by_one,
    StepKind.NEW_ADMIN: _make_admin,
    StepKind.ARTICLES_LEAVE: _archive,
    StepKind.WRITE_AND_SEARCHES: _search_after_write,
    StepKind.MODERATED_IN_STEPS: _moderate_in_steps,
    StepKind.USER_LEAVES: _leave,
    StepKind.EXPORT: _export,
    StepKind.PURGE: _purge,
    StepKind.LINK_FOR_PASSWORD: _reset,
    StepKind.LOG_IN_BY_TOKEN: _log_in_with_token,
    StepKind.TOKEN_OF_ISSUER: bearers.ask,
    StepKind.SOCKETS_END: bearers.end,
    StepKind.FAULT: _fault,
    StepKind.HEALED: _heal,
}
