"""Pages of the site as browsers get them, without running their scripts."""

from functools import partial

from bs4 import BeautifulSoup

from tests.server import in_process

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# a text that ends attributes and elements, and runs a script, wherever a page has it without escapes
HOSTILE = '"\'></title></noscript><script>alert(1)</script><meta http-equiv="refresh" content="0">'

serving = partial(in_process.serving, headers=BROWSER, site_name="Votes & Co")


async def read(http, path, status=200, **headers):
    """The parsed HTML of a page, which has this status."""
    response = await http.get(path, headers=headers)
    assert (response.status_code, response.headers["content-type"]) == (status, "text/html; charset=utf-8")
    return BeautifulSoup(response.text, "html.parser")


def metas(page):
    """The contents of the <meta> elements by their names."""
    return {each.get("name") or each.get("property"): each.get("content") for each in page.head.find_all("meta")}


def canonical(page):
    """The addresses that a page names as its canonical ones."""
    return [link["href"] for link in page.head.find_all("link", rel="canonical")]
