"""
Reads of the comments of the site and of groups, as clients send them. `ask` is the function that sends a query with its
variables and returns the answer.
"""

from secrets import token_hex

COMMENTS = """query($group: String, $first: Int, $after: String, $last: Int, $before: String) {
  comments(group: $group, first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { id content } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
GROUPS = ("go", "lua", "zig")


async def page(ask, group=None, **paging):
    return (await ask(COMMENTS, group=group, **paging))["data"]["comments"]


async def listed(ask, group=None, **paging):
    """The ids of the comments of one page."""
    return [node["id"] for node in (await page(ask, group, **paging))["nodes"]]


async def walked(ask, group=None, size=2):
    """The ids of all comments, read forward page by page; checks that reading backward gives the same."""
    found, paging = [], {"first": size}
    while True:
        shown = await page(ask, group, **paging)
        found += [node["id"] for node in shown["nodes"]]
        if not shown["pageInfo"]["hasNextPage"]:
            break
        paging = {"first": size, "after": shown["pageInfo"]["endCursor"]}
    back, paging = [], {"last": size}
    while True:
        shown = await page(ask, group, **paging)
        back = [node["id"] for node in shown["nodes"]] + back
        if not shown["pageInfo"]["hasPreviousPage"]:
            break
        paging = {"last": size, "before": shown["pageInfo"]["startCursor"]}
    assert back == found
    return found


async def say(store, clock, article, poster, content="a text", parent=None):
    """Post a comment a millisecond later than what was posted before, so that the order by time is known."""
    clock.advance(0.001)
    posted = await store.comments.post(article.number, parent, poster, content, idempotency_key=token_hex(8))
    return posted.comment
