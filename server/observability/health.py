"""What tells operators how a server is: its health, whether it is ready, and its metrics."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from database.database import Database, DatabaseUnavailable
from database.webhooks import states
from server.observability.log_stream import LogStream
from server.observability.metrics import DatabaseGauges, MailGauges, Metrics, WebhookGauges
from store import mails
from store.errors import StoreUnavailable
from store.site import Site
from store.store import Store


def routes() -> list[BaseRoute]:
    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    """
    Whether the server can take requests: the status is 503 until Redis and, where there is one, the database have
    answered. Refused writes and a database that has stopped answering are told, with status 200.
    """
    request.app.state.log.flush()  # an attempt to write shows whether the program's own log can be written
    try:
        await request.app.state.store.site.redis.ping()
    except StoreUnavailable:
        return JSONResponse({"status": "unavailable", "store": "does not answer"}, status_code=503)
    database: Database | None = request.app.state.database
    refusal = await request.app.state.store.site.write_error()
    writes = {"writes": "refused", "reason": refusal} if refusal else {}
    log: LogStream = request.app.state.log
    note: dict[str, object] = {"log": f"cannot be written: {log.fault}"} if log.fault else {}
    note |= await _database_note(database, request.app.state.store) if database else {}
    if memory := await request.app.state.memory.gauges():
        used = {"used": memory.used_bytes, "limit": memory.limit_bytes, "full_on": memory.full_on}
        note["memory"] = used
    is_ready = database is None or database.is_open  # open: it has answered since this process started
    body = {"status": "ok" if is_ready else "unavailable", "store": "answers", **writes, **note}
    return JSONResponse(body, status_code=200 if is_ready else 503)


async def _database_note(database: Database, store: Store) -> dict[str, str]:
    if fault := await database.ping():
        return {"database": f"does not answer: {fault}"}
    try:
        lag = await database.lag(store.site)
    except StoreUnavailable:
        return {}
    return {"database": f"{lag.entries} entries and {lag.seconds:.1f} s behind" if lag.entries else "up to date"}


async def metrics(request: Request) -> Response:
    metrics: Metrics = request.app.state.observer.metrics
    store, database = request.app.state.store, request.app.state.database
    metrics.writes_refused = await store.site.write_error() is not None
    metrics.database = await _database_gauges(database, store) if database else None
    metrics.webhooks = await _webhook_gauges(database, store.site.clock()) if database else {}
    metrics.memory = await request.app.state.memory.gauges()
    metrics.mails = await _mail_gauges(store.site) if store.site.offers_mail else None
    return await asyncio.to_thread(metrics.scrape)  # it reads two files for each process


async def _database_gauges(database: Database, store: Store) -> DatabaseGauges | None:
    """How far the database is behind; None if the store does not answer."""
    is_up = await database.ping() is None
    try:
        lag = await database.lag(store.site)
    except StoreUnavailable:
        return None
    return DatabaseGauges(up=is_up, lag_entries=lag.entries, lag_seconds=lag.seconds)


async def _webhook_gauges(database: Database, now: int) -> dict[int, WebhookGauges]:
    """What waits for each webhook; nothing if the database does not answer."""
    if database.fault:
        return {}
    try:
        found = await database.run(states)
    except DatabaseUnavailable:
        return {}
    return {
        hook.id: WebhookGauges(
            pending=waiting.count,
            pending_seconds=(now - waiting.oldest) / 1000 if waiting.oldest else 0,
            off=bool(hook.off_at),
        )
        for hook, waiting in found
    }


async def _mail_gauges(site: Site) -> MailGauges | None:
    """The mails that are due; None if the store does not answer."""
    try:
        backlog = await mails.backlog(site)
    except StoreUnavailable:
        return None
    return MailGauges(due=backlog.count, due_seconds=(site.clock() - backlog.oldest) / 1000 if backlog.oldest else 0)
