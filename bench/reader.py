"""
Measures how long a browser takes from navigation to a readable front page of the project's site.

    python -m bench.reader [FILE] [--loads 15] [--pages]

FILE has stories as for `upvote import`; without it, there are 20 052 random ones. The server has one worker. A cold
load has a new browser profile, a warm one has files in its cache. Times are medians of the browser's own clock, in
milliseconds since the navigation started: `page` is the end of the HTML, `readable` the first frame that has all
titles, `painted` the largest contentful paint, `data` the end of the GraphQL answer, `usable` the first frame in which
votes can be cast. `CPU` is the processor time of the page's main thread until then, in milliseconds; other programs on
the machine disturb it less.

With `--pages` it measures the largest contentful paint of cold loads of the front page, of an article with 229 comments
and of a search, in turns, and their ratios to that of the front page.
"""

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from playwright.async_api import Browser, BrowserContext, async_playwright

from bench import servers
from bench.import_stories import random_stories
from bench.tables import markdown
from server.cli.import_stories import ImportOptions, import_stories
from server.settings import Settings
from tests import programs

COMMENTS = 229  # of the article: any number above two pages of a thread
MOST_RATIO = 1.2  # the largest paint of another page to that of the front page
REGISTER = 'mutation { register(input: {username: "reader", password: "correct horse"}) { token } }'
POST = 'mutation { post(input: {title: "An article with comments", content: "A text"}) { article { id } } }'
COMMENT = """mutation Comment($article: ID!, $text: String!) {
  comment(input: {articleId: $article, content: $text}) { comment { id } }
}"""
COLUMNS = ("page", "readable", "painted", "data", "usable", "CPU")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
TITLES = 25
# Notes in which frames titles and buttons are there; a task after a frame's callback runs when it has been drawn.
OBSERVE = """
function note(name, selector, count) {
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll(selector).length < count) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window[name] = performance.now(); }));
  });
  observer.observe(document, { childList: true, subtree: true });
}
note('readable', 'main ol > li', TITLES);
note('usable', 'main .votes button:enabled', TITLES);
new PerformanceObserver((list) => { window.painted = list.getEntries().at(-1).startTime; })
  .observe({ type: 'largest-contentful-paint', buffered: true });
""".replace("TITLES", str(TITLES))
MEASURE = """() => {
  const [page] = performance.getEntriesByType('navigation');
  const files = performance.getEntriesByType('resource');
  const data = files.filter(({ name }) => new URL(name).pathname === '/graphql');
  const scripts = files.filter(({ name }) => name.endsWith('.js'));
  return {
    page: page.responseEnd,
    data: Math.max(...data.map((each) => each.responseEnd)),
    readable: window.readable,
    usable: window.usable,
    painted: window.painted,
    requests: data.length,
    scriptBytes: scripts.reduce((bytes, each) => bytes + each.encodedBodySize, 0),
  };
}"""


def run(file: Path | None, loads: int, of_pages: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(data_dir=folder / "data")
        import_stories(settings, [file or random_stories(folder / "stories.csv")], ImportOptions(shift_to_now=True))
        environment = {"UPVOTE_DATA_DIR": str(settings.data_dir)}
        with servers.running(servers.PEERS["upvote"], workers=1, environment=environment, log=folder / "log") as server:
            url = f"http://127.0.0.1:{server.port}/"
            asyncio.run(measure_pages(url, loads) if of_pages else measure(url, loads))


async def measure(url: str, loads: int) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=programs.chromium(), args=ARGUMENTS)
        await cold(browser, url, loads=1)  # fills the caches of the server
        rows = {"cold": await cold(browser, url, loads), "warm": await warm(browser, url, loads)}
        await browser.close()
    (requests,) = {sample["requests"] for samples in rows.values() for sample in samples}  # the same for each load
    kilobytes = rows["cold"][0]["scriptBytes"] / 1000
    print(f"load of the machine {os.getloadavg()[0]:.1f}; {requests} GraphQL request; {kilobytes:.1f} kB of script\n")
    print(markdown(["loads", *COLUMNS, "readable, slowest"], [row(kind, samples) for kind, samples in rows.items()]))


async def measure_pages(url: str, loads: int) -> None:
    pages = {"front page": "", "article": discussed(url), "search": "search?q=show"}
    paints: dict[str, list[float]] = {name: [] for name in pages}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=programs.chromium(), args=ARGUMENTS)
        for turn in range(loads + 1):
            for name, path in pages.items():
                painted = await largest_paint(browser, url + path)
                if turn:  # the first fills the caches of the server
                    paints[name].append(painted)
        await browser.close()
    times = {name: median(each) for name, each in paints.items()}
    first = times["front page"]
    rows = [[name, f"{each:.0f}", f"{each / first:.2f}", f"{max(paints[name]):.0f}"] for name, each in times.items()]
    print(f"load of the machine {os.getloadavg()[0]:.1f}; at most {MOST_RATIO} times the front page's are wanted\n")
    print(markdown(["page", "painted", "to the front page", "slowest"], rows))


def discussed(url: str) -> str:
    """Post an article with comments, and return its path."""
    with httpx.Client(base_url=url, timeout=60) as http:  # also on a busy machine

        def ask(query: str, **variables: str) -> Any:
            response = http.post("graphql", json={"query": query, "variables": variables})
            return response.raise_for_status().json()["data"]

        http.headers["Authorization"] = f"Bearer {ask(REGISTER)['register']['token']}"
        article = ask(POST)["post"]["article"]["id"]
        for number in range(COMMENTS):
            ask(COMMENT, article=article, text=f"Comment {number} says *this* about [that](https://example.org/). " * 4)
    return str(article).replace(":", "/")


async def largest_paint(browser: Browser, url: str) -> float:
    """Milliseconds from a navigation, in a new profile, to the largest paint. Waits until the script can take votes."""
    context = await profile(browser)
    page = await context.new_page()
    await page.goto(url)
    await page.wait_for_function("() => document.querySelector('main .votes button:enabled') && window.painted")
    painted: float = await page.evaluate("window.painted")
    await context.close()
    return painted


async def cold(browser: Browser, url: str, loads: int) -> list[dict[str, float]]:
    samples = []
    for _ in range(loads):
        context = await profile(browser)
        samples.append(await load(context, url))
        await context.close()
    return samples


async def warm(browser: Browser, url: str, loads: int) -> list[dict[str, float]]:
    context = await profile(browser)
    _, *samples = [await load(context, url) for _ in range(loads + 1)]
    await context.close()
    return samples


async def profile(browser: Browser) -> BrowserContext:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    await context.add_init_script(OBSERVE)
    return context


async def load(context: BrowserContext, url: str) -> dict[str, Any]:
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    await page.goto(url)
    await page.wait_for_function("() => window.readable && window.usable && window.painted")
    metrics = {each["name"]: each["value"] for each in (await session.send("Performance.getMetrics"))["metrics"]}
    sample = await page.evaluate(MEASURE)
    await page.close()
    return sample | {"CPU": 1000 * metrics["TaskDuration"]}


def row(kind: str, samples: list[dict[str, float]]) -> list[str]:
    times = [f"{median(sample[column] for sample in samples):.0f}" for column in COLUMNS]
    return [kind, *times, f"{max(sample['readable'] for sample in samples):.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--loads", type=int, default=15)
    parser.add_argument("--pages", action="store_true", help="compare pages by their largest paint")
    chosen = parser.parse_args()
    run(chosen.file, chosen.loads, chosen.pages)


if __name__ == "__main__":
    main()
