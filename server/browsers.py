"""
Browsers: which one sends a request, by its headers, the cookie that keeps a session in a browser, and CORS for pages of
other origins that use this cookie.
"""

from collections.abc import Callable, Sequence
from typing import Any

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.clients import headers_of
from engine.cookies import SessionCookie
from server.agents import agent_of
from server.public_url import PublicURL
from server.settings import Settings

COOKIE_PREFIX = "upvote"
# A page names the user whom it shows as logged in: the cookie counts only if its session is of that user.
VIEWER_HEADER = "X-Upvote-Viewer"


def session_cookie(settings: Settings, public_url: PublicURL) -> SessionCookie:
    """The cookie of this site. With an https public URL it has the prefix `__Host-`: no other host can set it."""
    return SessionCookie(
        public_url.of,
        COOKIE_PREFIX,
        is_host_only=(settings.public_url or "").startswith("https:"),
        origins=settings.origins_with_cookies,
        viewer_header=VIEWER_HEADER.lower().encode(),
    )


class Browsers:
    """
    What resolvers ask about the browser that sends a request, given its ASGI scope: the protocol `Browser` of
    `resolvers/context.py`, which imports nothing of the server.
    """

    def __init__(self, cookie: SessionCookie) -> None:
        self._cookie = cookie

    def agent(self, scope: Scope) -> str:
        return agent_of(scope)

    def can_keep(self, scope: Scope) -> bool:
        """Whether the response may set the cookie."""
        return self._cookie.can_be_set(scope)

    def has_kept(self, scope: Scope) -> bool:
        """Whether the request's token comes from the cookie, which the response can then remove."""
        return self._cookie.can_be_set(scope) and self._cookie.counts(scope)

    def cookie(self, scope: Scope, token: str | None) -> tuple[bytes, bytes]:
        """The header that sets the cookie; without a token, the one that removes it."""
        return self._cookie.header(scope, token)


class CrossOrigin:
    """
    Adds CORS headers to the responses of `app`. Pages of `origins` may have the cookie sent with their requests; pages
    of all other origins get the headers of `plain`, CORS middleware without cookies, or none if that is None.
    """

    def __init__(self, app: ASGIApp, plain: Middleware | None, origins: Sequence[str], options: dict[str, Any]) -> None:
        self._plain: ASGIApp = plain.cls(app, *plain.args, **plain.kwargs) if plain else app
        self._origins = {origin.encode() for origin in origins}
        with_cookies: Callable[..., ASGIApp] = CORSMiddleware
        self._with_cookies = with_cookies(app, allow_origins=list(origins), allow_credentials=True, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        may_use_cookie = scope["type"] == "http" and headers_of(scope).get(b"origin") in self._origins
        await (self._with_cookies if may_use_cookie else self._plain)(scope, receive, send)
