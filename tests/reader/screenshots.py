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
from tests.reader.scene import PAGES, PRIVATE, Scene, play
from tests.reader.site import Site, serving_sample

IMAGES = Path(__file__).parents[2] / "docs" / "images"
HEIGHTS = {360: 740, 768: 1024, 1280: 800}  # by width
THEMES = ("light", "dark")


class Picture(NamedTuple):
    file: Path
    page: str
    width: int
    theme: str
    is_member: bool
    is_whole: bool


def documented() -> Iterator[Picture]:
    """Those that docs/ and the README show."""
    yield Picture(IMAGES / "reader.png", "front page", 1280, "light", True, False)
    yield Picture(IMAGES / "reader-article.png", "article", 768, "light", True, False)
    yield Picture(IMAGES / "reader-phone.png", "front page", 360, "dark", False, False)


def wanted(folder: Path, pages: list[str]) -> Iterator[Picture]:
    for name in pages or PAGES:
        for width in HEIGHTS:
            for theme in THEMES:
                file = folder / f"{name.replace(' ', '-')}-{width}-{theme}.png"
                yield Picture(file, name, width, theme, name in PRIVATE or "article" in name, True)


async def take(site: Site, scene: Scene, pictures: Iterator[Picture]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=programs.chromium(), args=ARGUMENTS)
        for picture in pictures:
            await take_one(browser, site, scene, picture)
        await browser.close()


async def take_one(browser: Browser, site: Site, scene: Scene, picture: Picture) -> None:
    viewport = {"width": picture.width, "height": HEIGHTS[picture.width]}
    options = {"base_url": site.url, "reduced_motion": "reduce", "color_scheme": picture.theme}
    context = await browser.new_context(viewport=viewport, **options)
    page = await context.new_page()
    if picture.is_member:
        await log_in(page, scene.alice)
    await opened(page, scene.path(picture.page))
    await page.evaluate("document.activeElement.blur()")
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
    with tempfile.TemporaryDirectory() as name, serving_sample(Path(name)) as site:
        pictures = documented() if chosen.docs else wanted(chosen.folder, chosen.pages)
        asyncio.run(take(site, play(site), pictures))


if __name__ == "__main__":
    main()
