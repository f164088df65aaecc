"""The sitemap and robots.txt, as crawlers read them."""

import xml.etree.ElementTree as ET
from functools import partial
from urllib.robotparser import RobotFileParser

import pytest

from server import sitemap
from store.articles import Draft
from tests.server import in_process

URL = "https://example.com/news"
NAMESPACE = f"{{{sitemap.NAMESPACE}}}"
serving = partial(in_process.serving, public_url=URL)


@pytest.fixture
async def http(redis_url, store):
    async with serving(redis_url) as http:
        yield http


async def locations(http, path, root="urlset", tag="url"):
    """The addresses of a file, with their dates."""
    response = await http.get(path)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/xml"), response.text
    element = ET.fromstring(response.content)
    assert element.tag == NAMESPACE + root
    assert {child.tag for child in element} <= {NAMESPACE + tag}
    return {child.findtext(f"{NAMESPACE}loc"): child.findtext(f"{NAMESPACE}lastmod") for child in element}


async def post(store, poster, count, groups=()):
    """Post so many articles, and return their numbers."""
    return [
        (
            await store.articles.post(poster, Draft(f"Title {n}", f"https://example.org/{n}", groups=groups))
        ).article.number
        for n in range(count)
    ]


async def test_index_of_an_empty_site_names_the_pages_only(http):
    assert await locations(http, "/sitemap.xml", "sitemapindex", "sitemap") == {f"{URL}/sitemap-pages.xml": None}
    assert set(await locations(http, "/sitemap-pages.xml")) == {f"{URL}/{path}" for path in sitemap.PAGES}
    assert (await http.get("/sitemap-articles-1.xml")).status_code == 404


async def test_articles_are_in_files_newest_first(http, store, alice, clock, monkeypatch):
    monkeypatch.setattr(sitemap, "FILE_LENGTH", 100)
    numbers = await post(store, alice, 150, ["show"])
    clock.advance(60)
    await store.articles.edit(numbers[149], alice, {"title": "Better"})

    index = await locations(http, "/sitemap.xml", "sitemapindex", "sitemap")
    files = [await locations(http, path.removeprefix(URL)) for path in list(index)[1:]]

    newest = [f"{URL}/article/{number}" for number in reversed(numbers)]
    assert [list(file) for file in files] == [newest[:100], newest[100:]]
    assert files[0][newest[0]] == "2016-08-04T11:53:00.000Z"
    assert files[0][newest[1]] == "2016-08-04T11:52:00.000Z"
    assert f"{URL}/group/show" in await locations(http, "/sitemap-pages.xml")


async def test_file_has_articles_of_several_queries(http, store, alice):
    numbers = await post(store, alice, 2 * sitemap.PAGE + 1)

    assert len(await locations(http, "/sitemap-articles-1.xml")) == len(numbers)


async def test_file_is_cached_for_a_time(http, store, alice, monkeypatch):
    await post(store, alice, 1)
    before = await locations(http, "/sitemap-articles-1.xml")
    cached_at = sitemap.monotonic()
    await post(store, alice, 2)
    cached = await locations(http, "/sitemap-articles-1.xml")
    monkeypatch.setattr(sitemap, "monotonic", lambda: cached_at + sitemap.CACHE_SECONDS + 1)

    assert cached == before
    assert len(await locations(http, "/sitemap-articles-1.xml")) > len(before)


@pytest.mark.parametrize("number", ["0", "51", "9" * 30, "-1", "x"])
async def test_file_that_is_not_in_the_index_is_not_found(http, number):
    assert (await http.get(f"/sitemap-articles-{number}.xml")).status_code == 404


async def test_files_have_tags_and_cost_points(redis_url, store, alice):
    await post(store, alice, 1)
    async with serving(redis_url, rate_limits="on", rate_address_points=1_000, rate_address_points_back=1e-6) as http:
        response = await http.get("/sitemap.xml")
        again = await http.get("/sitemap.xml", headers={"If-None-Match": response.headers["etag"]})
        statuses = {(await http.get("/sitemap-pages.xml")).status_code for _ in range(12)}

    assert again.status_code == 304
    assert statuses == {200, 429}


async def test_robots_keep_away_from_the_endpoint(http):
    text = (await http.get("/robots.txt")).text
    rules = RobotFileParser()
    rules.parse(text.splitlines())

    allowed = [
        path for path in ("/", "/article/1", "/graphql?query=", "/metrics") if rules.can_fetch("any", URL + path)
    ]
    assert allowed == ["/", "/article/1"]
    assert rules.site_maps() == [f"{URL}/sitemap.xml"]


async def test_host_of_a_request_is_kept_from_shared_caches(redis_url):
    async with serving(redis_url, public_url=None, cache_seconds=60) as http:
        answers = [await http.get(path, headers={"Host": "a.example"}) for path in ("/robots.txt", "/sitemap.xml")]

    assert ["http://a.example/sitemap" in answer.text for answer in answers] == [True, True]
    assert {answer.headers["cache-control"] for answer in answers} == {"private, max-age=0, must-revalidate"}
