"""
The front door: browsers log in at an issuer, a service outside, by the authorization code flow of OpenID Connect with
PKCE, `state` and `nonce`. The server runs the flow, which ends in the cookie of a session. No token stands in a URL, or
is seen by a script.
"""

import json
import logging
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from urllib.parse import quote, urlencode, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from engine import Refused
from server.agents import agent_of
from server.documents import UNCACHED
from server.guarded_client import NoAnswer
from server.issuers import people
from server.issuers.accepting import AcceptedTokens
from server.issuers.file import Issuer
from server.issuers.keyrings import KeysUnavailable, guarded_client
from server.issuers.tokens import Token
from store import pending_logins
from store.errors import BadCredentials, StoreUnavailable, TokenRefused
from store.pending_logins import LOGIN_LIFETIME, PendingLogin

PATH = "/log-in"
COOKIE = "upvote-log-in-"  # begins the names of the cookies that show that the same browser comes back
NAME_DIGITS = 16  # of the SHA-256 of a state, in the name of its cookie: each tab has a log-in of its own
MAX_ANSWER = 64_000  # bytes
COST = 100  # points of the rate limit of the address, for a log-in that begins
MAX_NEXT = 1_000  # characters of the path of the page to go on with
MAX_SHOWN = 100  # characters of an issuer's error that the log shows
AGAIN = "begin again: this log-in has ended, was used, or has begun in another browser"
HEADERS = {**UNCACHED, "Referrer-Policy": "no-referrer"}
# What the page to log in is told of a log-in that has failed, by the status of the failure.
REASONS = {
    HTTPStatus.BAD_REQUEST: "ended",
    HTTPStatus.UNAUTHORIZED: "refused",
    HTTPStatus.TOO_MANY_REQUESTS: "later",
    HTTPStatus.SERVICE_UNAVAILABLE: "later",
}

logger = logging.getLogger("upvote")


def routes(has_page: bool) -> list[BaseRoute]:
    """
    The routes that begin and end a log-in. They answer GET only: a HEAD would store a log-in that nobody goes on with,
    or use one up. `has_page`: the site has a page to log in, to which browsers come back where a log-in fails.
    """
    steps = {f"{PATH}/{{name}}": begin, f"{PATH}/{{name}}/done": end}
    return [_route(path, partial(_or_back, step) if has_page else step) for path, step in steps.items()]


def _route(path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
    route = Route(path, endpoint)
    route.methods = {"GET"}  # Starlette has added HEAD
    return route


async def _or_back(step: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    """What a step of a log-in answers; where it fails, browsers are sent to the page to log in, which says why."""
    try:
        return await step(request)
    except HTTPException as failure:
        reason = REASONS.get(HTTPStatus(failure.status_code))
        if reason is None or "text/html" not in request.headers.get("Accept", ""):
            raise
        back = f"{request.app.state.public_url.of(request.scope)}{PATH}?failed={reason}"
        return RedirectResponse(back, HTTPStatus.SEE_OTHER, failure.headers)


async def begin(request: Request) -> RedirectResponse:
    """Send a browser to an issuer. `next` in the query is the page of this site to go on with."""
    issuer, tokens = _issuer(request)
    await _charge(request)
    try:
        endpoint = await tokens.keyrings[issuer.name].endpoint("authorization_endpoint")
        state, begun = await pending_logins.begin(request.app.state.store.site, issuer.name, own_path(request))
    except (KeysUnavailable, StoreUnavailable) as error:
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, str(error), HEADERS) from error
    challenge = urlsafe_b64encode(sha256(begun.verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "response_type": "code",
        "client_id": issuer.client_id,
        "redirect_uri": _return_url(request, issuer),
        "scope": " ".join(issuer.scopes),
        "state": state,
        "nonce": begun.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    separator = "&" if urlsplit(endpoint).query else "?"
    response = RedirectResponse(f"{endpoint}{separator}{urlencode(asked)}", HTTPStatus.SEE_OTHER, HEADERS)
    _set_cookie(request, response, state, LOGIN_LIFETIME)
    return response


async def end(request: Request) -> RedirectResponse:
    """A browser comes back from an issuer: open a session for the user who has logged in there, kept in a cookie."""
    issuer, tokens = _issuer(request)
    app_state = request.app.state
    try:
        begun = await _begun(request, issuer)
        token = await _token(request, issuer, tokens, begun)
        username = await app_state.store.identities.user_of(people.claims_of(token, has_all_claims=False))
        opened = await app_state.store.sessions.open(username, agent=agent_of(request.scope))
    except (TokenRefused, BadCredentials) as refused:
        _log(issuer, refused)
        raise HTTPException(HTTPStatus.UNAUTHORIZED, refused.message, HEADERS) from refused
    except (NoAnswer, KeysUnavailable, StoreUnavailable) as error:
        _log(issuer, error)
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "this cannot be done now: try again", HEADERS) from error
    base = app_state.public_url.of(request.scope)
    response = RedirectResponse(f"{base}{begun.next}", HTTPStatus.SEE_OTHER, HEADERS)
    response.raw_headers.append(app_state.cookie.header(request.scope, opened.token))
    _set_cookie(request, response, request.query_params["state"], lifetime=0)
    return response


def _log(issuer: Issuer, why: object) -> None:
    """Say why a log-in has failed: its user is not told what an operator has to know, such as a wrong secret."""
    logger.warning("a log-in at the issuer %s has failed: %s", issuer.name, why)


def _shown(error: object) -> str:
    """The `error` that an issuer gives (RFC 6749), such as `invalid_client`, for the log."""
    return f"the error {error[:MAX_SHOWN]!r}" if isinstance(error, str) else "no error"


async def _charge(request: Request) -> None:
    """Take points from the address of a browser, as a log-in that begins is stored. Raises HTTPException."""
    state = request.app.state
    if state.rate_limiter is None:
        return
    try:
        charge = await state.rate_limiter.admit(state.endpoint.client(request.scope)._replace(token=None))
    except Refused as refused:
        headers = {name.decode(): value.decode() for name, value in refused.headers}
        message = refused.errors[0]["message"]
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, message, HEADERS | headers) from refused
    charge.set(COST)


async def _begun(request: Request, issuer: Issuer) -> PendingLogin:
    """
    The log-in with which a browser comes back.

    Raises:
        HTTPException: it has not begun in this browser, at this issuer, or it was used; or the issuer refuses.
    """
    given = request.query_params.get("state", "")
    kept = request.cookies.get(_cookie_name(given), "")
    if not kept or not secrets.compare_digest(given.encode(), kept.encode()):
        raise HTTPException(HTTPStatus.BAD_REQUEST, AGAIN, HEADERS)
    begun = await pending_logins.take(request.app.state.store.site, given)
    is_of_issuer = request.query_params.get("iss", issuer.issuer) == issuer.issuer  # RFC 9207
    if begun is None or begun.issuer != issuer.name or not is_of_issuer:
        raise HTTPException(HTTPStatus.BAD_REQUEST, AGAIN, HEADERS)
    if "error" in request.query_params or "code" not in request.query_params:
        _log(issuer, f"it has sent the browser back with {_shown(request.query_params.get('error'))}")
        raise HTTPException(HTTPStatus.UNAUTHORIZED, "the issuer has not logged you in", HEADERS)
    return begun


async def _token(request: Request, issuer: Issuer, tokens: AcceptedTokens, begun: PendingLogin) -> Token:
    """
    The ID token for the code with which a browser comes back.

    Raises:
        TokenRefused: it is not for this log-in, or not as the file of issuers asks for.
        NoAnswer: the issuer does not answer with a token.
        KeysUnavailable: its keys cannot be had now.
    """
    assert issuer.client_id is not None
    endpoint = await tokens.keyrings[issuer.name].endpoint("token_endpoint")
    text = await _exchanged(request, issuer, endpoint, begun)
    token = tokens.parse(text, audience=frozenset({issuer.client_id}))
    await tokens.require_signed(token)
    if token.issuer is not issuer:
        raise TokenRefused(reason="issuer")
    nonce = token.claims.get("nonce")
    if not isinstance(nonce, str) or not secrets.compare_digest(nonce.encode(), begun.nonce.encode()):
        raise TokenRefused(reason="nonce")
    if token.claims.get("azp", issuer.client_id) != issuer.client_id:
        raise TokenRefused(reason="audience")
    return token


async def _exchanged(request: Request, issuer: Issuer, endpoint: str, begun: PendingLogin) -> str:
    """The ID token that an issuer gives for a code. Raises NoAnswer."""
    form = {
        "grant_type": "authorization_code",
        "code": request.query_params["code"],
        "redirect_uri": _return_url(request, issuer),
        "client_id": issuer.client_id or "",
        "code_verifier": begun.verifier,
    }
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    if issuer.client_secret is not None:
        pair = f"{quote(issuer.client_id or '', safe='')}:{quote(issuer.client_secret, safe='')}"
        headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    client = guarded_client(issuer)
    try:
        answer = await client.send(
            "POST", endpoint, content=urlencode(form).encode(), headers=headers, max_answer=MAX_ANSWER
        )
    finally:
        await client.close()
    try:
        found = json.loads(answer.body)
    except ValueError:
        found = None
    said = found if isinstance(found, dict) else {}
    text = said.get("id_token")
    if answer.status != HTTPStatus.OK or not isinstance(text, str):
        raise NoAnswer(f"it has answered {answer.status} and no ID token, with {_shown(said.get('error'))}")
    return text


def _issuer(request: Request) -> tuple[Issuer, AcceptedTokens]:
    tokens: AcceptedTokens = request.app.state.tokens
    issuer = tokens.file.named(request.path_params["name"])
    if issuer is None or issuer.client_id is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return issuer, tokens


def own_path(request: Request) -> str:
    """The page to go on with: only a path of this site, whatever the address says."""
    next = request.query_params.get("next", "/")
    is_own = next.startswith("/") and not next.startswith("//") and "\\" not in next and next.isprintable()
    return next if is_own and len(next) <= MAX_NEXT else "/"


def _return_url(request: Request, issuer: Issuer) -> str:
    return f"{request.app.state.public_url.of(request.scope)}{PATH}/{issuer.name}/done"


def _cookie_name(state: str) -> str:
    return f"{COOKIE}{sha256(state.encode()).hexdigest()[:NAME_DIGITS]}"


def _set_cookie(request: Request, response: RedirectResponse, state: str, lifetime: int) -> None:
    """
    Keep the state of a log-in in the browser for `lifetime` seconds; 0 removes it. Browsers send it when they come back
    from another site.
    """
    url = urlsplit(request.app.state.public_url.of(request.scope))
    response.set_cookie(
        _cookie_name(state),
        state if lifetime else "",
        max_age=lifetime,
        path=f"{url.path}{PATH}",
        secure=url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
