"""Where tests find what a page shows of articles, comments and votes."""

from playwright.async_api import Locator, Page, expect


def line(page: Page, title: str) -> Locator:
    """An article in a list."""
    return page.get_by_role("article", name=title, exact=True)


def button(within: Locator, direction: str = "up") -> Locator:
    """The button that votes up or down on an article or a comment."""
    return within.get_by_role("button", name=f"Vote {direction}").first


async def expect_votes(within: Locator, votes: int, own: str = "NONE") -> None:
    """Wait until an article or a comment shows these votes, and as the viewer's vote UP, DOWN or NONE."""
    await expect(within.locator(".count").first).to_have_text(str(votes))
    await expect(button(within, "up")).to_have_attribute("aria-pressed", str(own == "UP").lower())
    await expect(button(within, "down")).to_have_attribute("aria-pressed", str(own == "DOWN").lower())


async def titles(page: Page) -> list[str]:
    """The titles of the articles in a list, in its order."""
    return await page.locator("main ol > li h2 a").all_text_contents()
