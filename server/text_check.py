"""
Asks a service outside about each new or edited text: a signed POST by Standard Webhooks 1.0, which is answered within a
second. If the service is away, late or answers something else, the text is posted as if no service were asked.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from secrets import token_urlsafe
from time import time

import httpx
import orjson

from server.signatures import signed_headers
from store.breaches import Account, Candidate, Opinion
from store.rules import HOLD, REFUSE

TIME_LIMIT = 1.0  # seconds, from the wait for a connection to the last byte
MAX_CONNECTIONS = 20  # of a process
MAX_ANSWER = 10_000  # bytes
REASON_LENGTH = 300  # characters
NO_CONTENT, OK = 204, 200
RESULTS = {HOLD: "held", REFUSE: "refused"}  # for the metrics, by the action that the service answers

logger = logging.getLogger("upvote")


class BadAnswer(Exception):
    """The service does not answer as it should. The message says how."""


class TextCheck:
    """
    Called with who writes and what, it returns the opinion of the service: to hold the text until a moderator approves
    it, or to refuse it. None lets it pass, as does a service that has failed.
    """

    def __init__(self, url: str, secret: str, on_result: Callable[[str], None]) -> None:
        """`secret` has the form of Standard Webhooks. `on_result` gets a word for each text, for the metrics."""
        self._url, self._secret, self._on_result = url, secret, on_result
        self._failing = ""  # why the last check has failed
        limits = httpx.Limits(max_connections=MAX_CONNECTIONS)
        # A proxy of the environment is not used: the service is asked directly.
        self._client = httpx.AsyncClient(
            verify=ssl.create_default_context(), timeout=TIME_LIMIT, limits=limits, trust_env=False
        )

    async def __call__(self, account: Account, text: Candidate) -> Opinion | None:
        body = orjson.dumps(_message(account, text))
        try:
            async with asyncio.timeout(TIME_LIMIT):
                opinion = _opinion(*await self._send(body))
        except (TimeoutError, httpx.TimeoutException):
            self._note("late", f"no answer within {TIME_LIMIT:g} s")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            self._note("unreachable", f"{type(error).__name__}: {error}")
        except BadAnswer as error:
            self._note("bad_answer", str(error))
        else:
            self._note(RESULTS[opinion.action] if opinion else "passed")
            return opinion
        return None

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(self, body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        headers = signed_headers(body, f"msg_{token_urlsafe(16)}", int(time()), [self._secret])
        async with self._client.stream("POST", self._url, content=body, headers=headers) as response:
            answer = b""
            async for part in response.aiter_bytes():
                answer += part
                if len(answer) > MAX_ANSWER:
                    raise BadAnswer(f"an answer of more than {MAX_ANSWER} bytes")
            return response.status_code, answer

    def _note(self, result: str, fault: str = "") -> None:
        """Count a result, and log the first one of several equal faults, and the end of them."""
        self._on_result(result)
        if fault and fault != self._failing:
            logger.warning("UPVOTE_CHECK_URL: %s; texts are posted without this check", fault)
        elif self._failing and not fault:
            logger.info("UPVOTE_CHECK_URL answers again")
        self._failing = fault


def _message(account: Account, text: Candidate) -> dict[str, object]:
    user = {"username": account.username, "joinedAt": _instant(account.joined / 1000), "karma": account.karma}
    data = {"kind": text.kind, **text.texts, **text.given, "user": user}
    return {"type": "text.posted" if text.is_new else "text.edited", "timestamp": _instant(time()), "data": data}


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _opinion(status: int, answer: bytes) -> Opinion | None:
    """
    What an answer says: status 204 for no opinion, or 200 with JSON such as `{"action": "hold", "reason": "spam"}`.

    Raises:
        BadAnswer: it is neither.
    """
    if status == NO_CONTENT:
        return None
    if status != OK:
        raise BadAnswer(f"status {status}")
    try:
        given = orjson.loads(answer)
    except ValueError:
        raise BadAnswer("an answer that is not JSON") from None
    action, reason = (given.get("action"), given.get("reason") or "") if isinstance(given, dict) else ("", "")
    if isinstance(action, str) and action in RESULTS and isinstance(reason, str) and len(reason) <= REASON_LENGTH:
        return Opinion(action, reason)
    raise BadAnswer('an answer without "action", "hold" or "refuse", or with a "reason" that is long or no text')
