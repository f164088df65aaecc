"""
All pages on the smallest phones, in German, whose words are long, and where the system forces colours.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import pytest

from tests.reader.conftest import PHONE, opened
from tests.reader.scene import PAGES

SMALL = PHONE | {"width": 320}
# Sentences about what is wider than the page, cut within a word, too small for a finger, or covered.
FAULTS = r"""() => {
  const faults = [];
  const isSeen = (each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest('.hidden, noscript');
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!isSeen(text.parentElement) || text.parentElement.closest('.markdown, bdi, script')) continue;
    for (const { index, 0: word } of text.data.matchAll(/[\p{L}\p{N}]{2,}/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const parts = [...range.getClientRects()].filter(({ width }) => width >= 1);
      if (parts.reduce((sum, { width }) => sum + width, 0) > innerWidth) continue; // no line has room for it
      if (new Set(parts.map(({ top }) => Math.round(top))).size > 1) faults.push(`"${word}" is cut in two`);
    }
  }
  for (const each of document.querySelectorAll('button, a[href], input, select, textarea, summary')) {
    if (!isSeen(each) || each.matches('.skip')) continue;
    each.scrollIntoView({ block: 'center' });
    const [{ left, top, width, height }] = each.getClientRects();
    const name = `${each.localName} "${each.ariaLabel ?? each.textContent}"`;
    const isOfForm = each.matches('[type=checkbox], [type=radio], [type=file]');
    if (each.localName === 'button' && !isOfForm && (width < 23.5 || height < 23.5)) {
      faults.push(`${name} is ${width} x ${height}`);
    }
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!each.contains(hit) && !hit?.contains(each)) faults.push(`${name} is covered or beside the page`);
  }
  return faults;
}"""
# Where colours are forced, texts stand on the colour of the page, and backgrounds of any other colour are not painted.
UNSEEN = """() => {
  const { backgroundColor: page } = getComputedStyle(document.documentElement);
  const seen = [...document.querySelectorAll('body *')].filter((each) => each.checkVisibility());
  const style = (each) => getComputedStyle(each);
  const isText = (each) => [...each.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim());
  const named = (each) => each.outerHTML.slice(0, 120);
  return [
    ...seen.filter((each) => isText(each) && style(each).color === page && style(each).forcedColorAdjust === 'auto'),
    ...seen.filter((each) => each.localName === 'path' &&
      [style(each).fill, style(each).stroke].every((colour) => colour === page || colour === 'none')),
  ].map(named);
}"""
# Whether lines that carry a meaning are seen: below the current tab, below another tab, in the button that folds.
MARKS = """() => {
  const { backgroundColor: page } = getComputedStyle(document.documentElement);
  const [current, other] = ['[aria-current]', ':not([aria-current])'].map((which) =>
    getComputedStyle(document.querySelector(`.tabs a${which}`)).borderBottomColor);
  const fold = getComputedStyle(document.querySelector('.fold'), '::before').borderTopColor;
  return { tab: current !== page, otherTab: other !== page, fold: fold !== page };
}"""


@pytest.mark.parametrize("language", ["de", "ar"])  # most texts of "ar" are English, from right to left
@pytest.mark.parametrize("name", PAGES)
async def test_nothing_is_cut_or_covered(visit, scene, faults, name, language):
    page = await visit(scene.alice, viewport=SMALL, reduced_motion="reduce")
    path, mark, token = scene.path(name).partition("#")
    await opened(page, f"{path}{'&' if '?' in path else '?'}lang={language}{mark}{token}")

    assert await page.evaluate(FAULTS) == []
    faults.ignore("status of (404|410)")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["front page", "article", "branch of a removed comment", "inbox", "settings", "post"])
async def test_texts_and_signs_are_seen_where_colours_are_forced(visit, scene, name, theme):
    page = await visit(scene.alice, theme=theme, viewport=SMALL, forced_colors="active", reduced_motion="reduce")
    await opened(page, scene.path(name))

    assert await page.evaluate(UNSEEN) == []
    if name == "article":
        assert await page.evaluate(MARKS) == {"tab": True, "otherTab": False, "fold": True}


async def test_only_what_is_read_is_printed(visit, scene):
    page = await visit(scene.alice, theme="dark")
    await opened(page, scene.path("article"))
    await page.emulate_media(media="print")
    seen = page.locator("button:visible, form:visible, footer:visible, header nav:visible")

    assert await seen.evaluate_all("all => all.filter((each) => !each.matches('.count')).length") == 0
    assert await page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert await page.locator(".thread .markdown:visible").count() > 1
    heading, votes = [await page.locator(each).first.bounding_box() for each in ("main h1", "main .count")]
    assert votes["x"] == heading["x"]
