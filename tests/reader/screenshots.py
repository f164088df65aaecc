"""
Takes pictures of the reader's pages.

    python -m tests.reader.screenshots FOLDER [PAGE ...]   those pages or all, in three widths and both themes
    python -m tests.reader.screenshots --docs              what the documentation shows
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import Browser, async_playwright

from tests import programs
from tests.reader.conftest import ARGUMENTS, log_in, opened
from tests.reader.scene import PAGES, PRIVATE, create_scene
from tests.reader.site import Member, Site, serving_sample

IMAGES = Path(__file__).parents[2] / "docs" / "images"
HEIGHTS = {360: 740, 768: 1024, 1280: 800}  # by width
THEMES = ("light", "dark")
LISTED = "{ articles(first: 100) { nodes { id commentCount } } }"


class Picture(NamedTuple):
    file: Path
    path: str
    viewer: Member | None
    width: int
    height: int
    theme: str
    is_whole: bool = False  # the whole page, not only the window


def documented(site: Site) -> Iterator[Picture]:
    """The sample as a member sees it who has voted on it."""
    ada = site.member("ada")
    articles = site.ask(LISTED)["articles"]["nodes"]
    for voted in (0, 2, 6):
        site.vote(ada, articles[voted]["id"])
    discussed = max(articles, key=lambda article: article["commentCount"])
    yield Picture(IMAGES / "reader.png", "/", ada, width=960, height=460, theme="light")
    yield Picture(
        IMAGES / "reader-article.png", site.path(discussed["id"]), viewer=None, width=700, height=800, theme="light"
    )
    yield Picture(IMAGES / "reader-phone.png", "/", viewer=None, width=360, height=640, theme="dark")


def wanted(site: Site, folder: Path, pages: list[str]) -> Iterator[Picture]:
    """Pages by their names in `PAGES`, or all, in all widths and themes."""
    scene = create_scene(site)
    for page in pages or PAGES:
        viewer = scene.alice if page in PRIVATE or page == "article" else None
        for width, height in HEIGHTS.items():
            for theme in THEMES:
                file = folder / f"{page.replace(' ', '-')}-{width}-{theme}.png"
                yield Picture(file, scene.path(page), viewer, width, height, theme, is_whole=True)


async def take(site: Site, pictures: list[Picture]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=programs.chromium(), args=ARGUMENTS)
        for picture in pictures:
            await take_one(browser, site, picture)
        await browser.close()


async def take_one(browser: Browser, site: Site, picture: Picture) -> None:
    viewport = {"width": picture.width, "height": picture.height}
    options = {"base_url": f"{site.url}/", "reduced_motion": "reduce", "color_scheme": picture.theme}
    context = await browser.new_context(viewport=viewport, **options)
    page = await context.new_page()
    if picture.viewer is not None:
        await log_in(page, picture.viewer)
    await opened(page, picture.path)
    await page.screenshot(path=picture.file, full_page=picture.is_whole)
    await context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("pages", nargs="*", metavar="page", choices=[*PAGES, []])
    parser.add_argument("--docs", action="store_true")
    chosen = parser.parse_args()
    if chosen.docs == bool(chosen.folder):
        parser.error("name a folder, or --docs")
    with tempfile.TemporaryDirectory() as name, serving_sample(Path(name), log_level="warning") as site:
        pictures = documented(site) if chosen.docs else wanted(site, chosen.folder, chosen.pages)
        asyncio.run(take(site, list(pictures)))


if __name__ == "__main__":
    main()
