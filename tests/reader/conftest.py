"""
Fixtures of browser tests of the reader, the pages of the site in TypeScript. The server answers with the HTML of a
page; the script of the reader then draws it anew.

`site` is a served sample, `page` is a visitor's page of it, `visit` opens more of them, each in a browser profile of
its own, and `axe` finds faults of accessibility. A test in which a page logs an error or a warning, throws, violates
its Content-Security-Policy, or asks another host fails, unless `faults.expect` names it.

All tests of this folder and their fixtures run in one event loop, because the browser belongs to it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Request, Route, async_playwright, expect

from tests import programs
from tests.reader.scene import Scene, create_scene
from tests.reader.site import Member, Site, serving_sample
from tests.servers import PATIENCE

HERE = Path(__file__).parent
# Chromium heeds the last `--disable-features` only: so this list has the features that Playwright turns off, and the
# popups of the address bar, which are two more pages in each window, and slower than many a page of a test.
FEATURES_OFF = """
    AvoidCorsURLLoaderRestartOnRedirect AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose
    HttpsFirstBalancedModeAutoEnable HttpsUpgrades LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints
    PaintHolding PreconnectToSearch ThirdPartyStoragePartitioning AimEnabled WebUIOmniboxAimPopup WebUIOmniboxPopup
"""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    f"--disable-features={','.join(FEATURES_OFF.split())}",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
SESSION = "upvote-session"  # the key of localStorage under which the reader keeps who is logged in
GRAPHQL = "**/graphql"  # requests of the script for data
PRELOAD = r"reader/.*\.js csp"  # the fault of a page whose scripts are off: Chromium does not preload them
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 800}
UNDERLINED = ("text-decoration-line", "underline")  # as links within a sentence are
# The WebSockets of a page, so that a test can wait until the server has answered a ping on each that is open.
SOCKETS = """(() => {
  const opened = (window.openedSockets = []);
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      opened.push(this);
    }
  };
})()"""
# Sends a ping on each of them, and waits until it is answered or its WebSocket has ended.
PINGS = """() => Promise.all(openedSockets.filter((each) => each.readyState === WebSocket.OPEN).map((socket) =>
  new Promise((done) => {
    socket.addEventListener('message', ({ data }) => JSON.parse(data).type === 'pong' && done());
    socket.addEventListener('close', () => done());
    socket.send('{"type":"ping"}');
  })))"""
# The sum of all layout shifts since the page was opened.
SHIFTS = """() => {
  window.shifts = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((each) => (window.shifts += each.value)))
    .observe({ type: 'layout-shift', buffered: true });
  return new Promise((resolve) => setTimeout(() => resolve(window.shifts), 100));
}"""
# The texts of the site that are translated to Arabic, which is written from right to left; the others stay English.
ARABIC = "nav-groups = المجموعات\ngroups-title = المجموعات\nfollow = متابعة\nfollow-name = متابعة { $name }\n"
Axe = Callable[[Page], Awaitable[list[str]]]  # the type of the fixture `axe`: a line for each fault of a page

expect.set_options(timeout=PATIENCE * 1000)
in_one_loop = pytest_asyncio.fixture(loop_scope="session", scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.one_server)  # not run again on a cluster
            item.add_marker(pytest.mark.timeout(900))  # the first run on a machine may install Chromium
            if pytest_asyncio.is_async_test(item):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@dataclass
class Faults:
    """What went wrong in the pages of a test, in words."""

    seen: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def add(self, fault: str) -> None:
        if not any(re.search(pattern, fault) for pattern in self.ignored):
            self.seen.append(fault)

    async def expect(self, pattern: str) -> None:
        """Wait for a fault that matches, and take away all that do, since the test is about them."""
        await until(lambda: any(re.search(pattern, fault) for fault in self.seen), f"a fault like {pattern!r}")
        self._take_away(pattern)

    def ignore(self, pattern: str) -> None:
        """
        Take away those that match, if there are any, such as failed requests while the test cuts the network, and pass
        over those to come: the page is open until the test has ended.
        """
        self.ignored.append(pattern)
        self._take_away(pattern)

    def _take_away(self, pattern: str) -> None:
        self.seen = [fault for fault in self.seen if not re.search(pattern, fault)]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The sample, with rules that hold or refuse texts with certain words, and some texts in Arabic."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "rules.toml").write_text('[words]\nhold = ["held by a rule"]\nrefuse = ["refused by a rule"]')
    (folder / "site").mkdir()
    (folder / "site" / "ar.ftl").write_text(ARABIC)
    with serving_sample(folder, rules=folder / "rules.toml") as site:
        yield site


@pytest.fixture(scope="session")
def scene(site: Site) -> Scene:
    return create_scene(site)


@in_one_loop
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=programs.chromium(), args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture
def faults() -> Iterator[Faults]:
    faults = Faults()
    yield faults
    assert faults.seen == []


@dataclass
class Visits:
    """
    Opens pages, each in a browser profile of its own: its own session, storage and cache.

    `options` are those of Playwright's `new_context`, such as `java_script_enabled=False`. `frames` are what each page
    has sent over its WebSockets.
    """

    browser: Browser
    site: Site
    faults: Faults
    contexts: list[BrowserContext] = field(default_factory=list)
    frames: dict[Page, list[str]] = field(default_factory=dict)

    async def __call__(
        self, member: Member | None = None, *, theme: str = "light", viewport: dict[str, int] = DESKTOP, **options: Any
    ) -> Page:
        """
        A blank page. A member is logged in before the first one that is opened. `base_url` is another address of the
        site than its own; with a path it ends with a slash.
        """
        options = {"base_url": f"{self.site.url}/"} | options
        context = await self.browser.new_context(color_scheme=theme, viewport=viewport, **options)
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        watch(context, self.faults, urlsplit(options["base_url"]).netloc)
        await context.add_init_script(SOCKETS)
        context.on("page", self._listen)
        page = await context.new_page()
        if member is not None:
            await log_in(page, member)
        return page

    def _listen(self, page: Page) -> None:
        """Keep the frames of a page, which may be another tab that a test opens."""
        frames = self.frames[page] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(str(frame))))

    async def subscribed(self, page: Page, field: str) -> None:
        """Wait until the server has got a subscription to a field from a page."""
        await until(lambda: any('"subscribe"' in frame and field in frame for frame in self.frames[page]), field)
        await page.evaluate(PINGS)  # the server answers them after it has got the subscription


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, site: Site, faults: Faults) -> AsyncIterator[Visits]:
    visits = Visits(browser, site, faults)
    yield visits
    for context in visits.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(visit: Visits) -> Page:
    """A blank page of a visitor who is not logged in, as wide as a desktop."""
    return await visit()


@pytest.fixture(scope="session")
def axe() -> Axe:
    """Finds faults of a page with axe-core, also of WCAG 2.2's sizes of targets: a line for each element."""
    source = (programs.node_modules(HERE) / "axe-core" / "axe.min.js").read_text()

    async def violations(page: Page) -> list[str]:
        await evaluate(page, source)
        found = await evaluate(page, "axe.run({resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})")
        return [
            f"{each['id']}: {each['help']}: {node['html'][:200]} {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    return violations


async def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; `what` names it in the failure."""
    deadline = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(0.02)


async def log_in(page: Page, member: Member) -> None:
    """Give the page's browser a session of the member, as if they had logged in before; leaves the page blank."""
    await page.goto("./healthz")
    await set_cookie(page, member)
    session = json.dumps({"username": member.username, "began": 1})  # unix milliseconds: any instant before now
    await page.evaluate("([key, value]) => localStorage.setItem(key, value)", [SESSION, session])
    await page.goto("about:blank")


async def log_out(page: Page) -> None:
    """Choose "Log out" from the menu below the name in the header."""
    await page.locator(".account-menu > button").click()
    await page.get_by_role("button", name="Log out", exact=True).click()


async def set_cookie(page: Page, member: Member) -> None:
    """Give the page's browser the cookie of a session of the member."""
    address = urlsplit(page.url)
    origin = f"{address.scheme}://{address.netloc}"
    name = f"upvote-{sha256(origin.encode()).hexdigest()[:8]}"
    await page.context.add_cookies(
        [{"name": name, "value": member.token, "url": origin, "httpOnly": True, "sameSite": "Lax"}]
    )


async def opened_without_data(page: Page, path: str) -> Callable[[], Awaitable[None]]:
    """Open a page whose script gets no data until the function that is returned is called."""
    held: asyncio.Queue[Route] = asyncio.Queue()
    await page.route(GRAPHQL, held.put)
    await page.goto(f".{path}")
    route = await held.get()

    async def send_data() -> None:
        await route.continue_()
        await page.unroute(GRAPHQL)

    return send_data


async def html_replaced(page: Page) -> None:
    """Wait until the page that the script draws beside the HTML of the server, with the class `beside`, replaces it."""
    await expect(page.locator(".beside")).to_have_count(0)


async def opened(page: Page, path: str) -> None:
    """Open a path of the site, and wait until its page has its content."""
    await page.goto(f".{path}")
    await settled(page)


async def settled(page: Page) -> None:
    """Wait until a page has its content, shown by the script and not by the HTML of the server."""
    await expect(page.locator("#root h1")).to_be_visible()
    await expect(page.locator(".loading, .markdown.plain, .votes button:disabled, .account:empty")).to_have_count(0)


async def evaluate(page: Page, script: str) -> Any:
    """Run a script in a page whatever its Content-Security-Policy says, and wait for its value."""
    session = await page.context.new_cdp_session(page)
    arguments = {"expression": script, "awaitPromise": True, "returnByValue": True}
    answer = await session.send("Runtime.evaluate", arguments)
    await session.detach()
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")


def watch(context: BrowserContext, faults: Faults, host: str) -> None:
    """Note what goes wrong in the pages of a context, and requests to other hosts than this one."""

    def on_request(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.netloc != host:
            faults.add(f"request to another host: {request.url}")

    def on_failure(request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself gave it up, or another page was opened
            faults.add(f"request failed: {request.method} {request.url} {request.failure}")

    def on_message(message: Any) -> None:
        source = message.location["url"]
        if message.type in ("error", "warning") and not source.endswith(
            "/favicon.ico"
        ):  # pages of plain text have none
            faults.add(f"console {message.type}: {message.text} {source}")

    context.on("console", on_message)
    context.on("weberror", lambda error: faults.add(f"uncaught: {error.error}"))
    context.on("request", on_request)
    context.on("requestfailed", on_failure)
