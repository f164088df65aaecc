"""
GraphQL queries of the handlers of other paths, such as those of pages: what they read, whom they cost points, and which
responses their failures become.
"""

from contextlib import asynccontextmanager

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from server import documents
from server.app import create
from server.http.connections import ConnectionLimiter
from server.settings import Settings
from tests.server.conftest import REGISTER
from tests.server.in_process import client_of

GROUP = "query HandlerGroup($name: String!) { group(name: $name) { name } viewer { username } }"
PAGE = "query HandlerPage { articles(first: 100) { nodes { id } } }"
FEW_POINTS = {"rate_limits": "on", "rate_address_points": 300, "rate_address_points_back": 1e-6}


async def group(request):
    data = await documents.query(request, GROUP, {"name": request.path_params["name"]})
    return PlainTextResponse(f"{data['group']['name']} {data['viewer']}")


async def page(request):
    data = await documents.query(request, PAGE)
    return documents.cacheable(request, str(len(data["articles"]["nodes"])).encode(), "text/plain")


async def search(request):
    await documents.query(request, 'query HandlerSearch { search(query: "redis") { totalCount } }')
    raise AssertionError


async def wrong(request):
    await documents.query(request, "query HandlerWrong { first second }")
    raise AssertionError


@asynccontextmanager
async def serving(redis_url, **settings):
    """An application with two more handlers, in this process."""
    app = create(Settings(redis_url=redis_url, log_level="info", **settings), ConnectionLimiter())
    handlers = [
        Route("/test/page", page),
        Route("/test/search", search),
        Route("/test/wrong", wrong),
        Route("/test/{name}", group),
    ]
    app.router.routes += handlers
    async with client_of(app) as http:
        yield http


async def test_handler_reads_what_everybody_sees(redis_url, capfd):
    async with serving(redis_url, rate_limits="off") as http:
        registered = await http.post("/graphql", json={"query": REGISTER})
        token = registered.json()["data"]["register"]["token"]
        answer = await http.get("/test/Show", headers={"Authorization": f"Bearer {token}", "X-Request-Id": "r-1"})
        metrics = await http.get("/metrics")

    assert (answer.status_code, answer.text) == (200, "show None")
    assert 'operation="HandlerGroup"' in metrics.text
    [line] = [line for line in capfd.readouterr().err.splitlines() if "HandlerGroup" in line]
    assert '"request_id":"r-1"' in line


async def test_response_has_a_tag_and_costs_one_point_if_the_client_has_it(redis_url):
    async with serving(redis_url, **FEW_POINTS, cache_seconds=30) as http:
        first = await http.get("/test/page")
        again = await http.get("/test/page", headers={"If-None-Match": first.headers["etag"]})
        other = await http.get("/test/page", headers={"If-None-Match": '"another"'})

    assert (first.status_code, first.text, again.status_code, again.text, other.status_code) == (200, "0", 304, "", 200)
    assert first.headers["cache-control"] == "public, max-age=0, s-maxage=30, must-revalidate"
    assert first.headers["vary"] == "Accept-Encoding"
    points_left = [int(each.headers["ratelimit"].split(";")[1].removeprefix("r=")) for each in (first, again, other)]
    # 1 for the query, and one for each article of a page
    assert 300 - points_left[0] == points_left[1] - points_left[2] == 101
    assert points_left[0] - points_left[1] == 1
    assert again.headers["etag"] == first.headers["etag"]
    assert len({each.headers["x-request-id"] for each in (first, again, other)}) == 3


async def test_client_without_points_is_told_when_to_come_again(redis_url):
    async with serving(redis_url, **FEW_POINTS) as http:
        answers = [await http.get("/test/page") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[3].headers["retry-after"]) > 0
    assert answers[3].headers["ratelimit"].startswith('"address";r=0;')
    assert answers[3].headers["cache-control"] == "no-store"
    assert "UPVOTE_RATE_ADDRESS_POINTS" in answers[3].text


async def test_search_without_a_database_is_503(redis_url):
    async with serving(redis_url, rate_limits="off") as http:
        answer = await http.get("/test/search", headers={"X-Request-Id": "r-2"})

    assert (answer.status_code, answer.headers["x-request-id"]) == (503, "r-2")
    assert answer.headers["retry-after"] == "5"


async def test_document_that_is_not_valid_is_500_with_its_first_error(redis_url):
    async with serving(redis_url, rate_limits="off") as http:
        answer = await http.get("/test/wrong")

    assert (answer.status_code, answer.headers["cache-control"]) == (500, "no-store")
    assert answer.text == "Cannot query field 'first' on type 'Query'."
