"""What requests say of the program that sends them, and the cookie that keeps a session in a browser."""

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
VIEWER_HEADER = "X-Upvote-Viewer"  # the user whom a page shows


def session_cookie(settings: Settings, public_url: PublicURL) -> SessionCookie:
    """The cookie of this site. With a public URL that has https no other host can set it."""
    return SessionCookie(
        public_url.of,
        COOKIE_PREFIX,
        is_host_only=(settings.public_url or "").startswith("https:"),
        origins=settings.origins_with_cookies,
        viewer_header=VIEWER_HEADER.lower().encode(),
    )


class Browsers:
    """What a context asks about the request of its operation, by the scope: see `resolvers.context.Browser`."""

    def __init__(self, cookie: SessionCookie) -> None:
        self._cookie = cookie

    def agent(self, scope: Scope) -> str:
        return agent_of(scope)

    def can_keep(self, scope: Scope) -> bool:
        return self._cookie.can_be_set(scope)

    def has_kept(self, scope: Scope) -> bool:
        return self._cookie.can_be_set(scope) and self._cookie.counts(scope)

    def cookie(self, scope: Scope, token: str | None) -> tuple[bytes, bytes]:
        return self._cookie.header(scope, token)


class CrossOrigin:
    """
    Adds CORS headers for pages of other origins. Browsers may send the cookie with requests of pages of `origins`; all
    others get the headers of `plain`.
    """

    def __init__(self, app: ASGIApp, plain: Middleware | None, origins: Sequence[str], options: dict[str, Any]) -> None:
        self._plain: ASGIApp = plain.cls(app, *plain.args, **plain.kwargs) if plain else app
        self._origins = {origin.encode() for origin in origins}
        with_cookies: Callable[..., ASGIApp] = CORSMiddleware
        self._with_cookies = with_cookies(app, allow_origins=list(origins), allow_credentials=True, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        may_use_cookie = scope["type"] == "http" and headers_of(scope).get(b"origin") in self._origins
        await (self._with_cookies if may_use_cookie else self._plain)(scope, receive, send)
