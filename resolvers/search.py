"""
The field `search`, which combines what the database finds with the records that the store has now.

What was deleted is no match, even before the database knows of it. What was edited so that it does not match any more
is left out of a page. The mirror is the task that writes the changes of the store to the database, a moment later.
"""

import asyncio
import re
from asyncio import gather
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from typing import NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from database import search as index
from database import spelling
from database.database import Database, DatabaseTimeout, DatabaseUnavailable
from database.search import FIRST_USER, Found, Search
from database.search import SearchKind as SearchKind
from database.search import SearchOrder as SearchOrder
from database.words import Phrase, excerpt, matches, parse
from resolvers.arguments import BadInput, PageArguments, group_name, paginated
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.pagination import CursorFormat, Edge, PageInfo, decode_position, encode_cursor
from store import deletions, records, validation
from store.records import Article, Comment, ContentState, Position, User

QUERY_LENGTH = 500  # characters
NOBODY = "-"  # no valid name: nobody posts under it
CURSOR = CursorFormat(re.compile(r"(?:article|comment):[0-9]{1,16}|user:[a-z0-9_-]{2,20}"))
T = TypeVar("T")
# by request, the message of each search that has timed out: the same search is not tried again
TIMEOUTS: WeakKeyDictionary[Context, dict[Search, str]] = WeakKeyDictionary()
Node: TypeAlias = Article | Comment | User
LONG = 20_000  # characters of a page: more are looked through in a thread, so that the event loop goes on
READING = ThreadPoolExecutor(1, "search-texts")  # one page at a time, so that other threads get the interpreter's lock


class SearchEdge(NamedTuple):
    """
    A match. `value` is what its order sorts by; by RELEVANCE it is the index of the match. The excerpt is made with the
    `phrases` of the query.
    """

    listing: str
    value: float
    node: Node
    phrases: Sequence[Phrase]

    @property
    def cursor(self) -> str:
        return encode_cursor(self.listing, (self.value, self.node.id))


class SearchConnection(NamedTuple):
    """A page of matches of a query."""

    query: str
    search: Search
    edges: Sequence[SearchEdge]
    page_info: PageInfo
    total: int

    @property
    def nodes(self) -> list[Node]:
        return [edge.node for edge in self.edges]


@paginated
async def search(
    context: Context,
    query: str,
    kinds: list[SearchKind] | None = None,
    group: str | None = None,
    poster: str | None = None,
    order: SearchOrder | None = SearchOrder.RELEVANCE,
    *,
    paging: PageArguments,
) -> SearchConnection:
    """
    A page of the articles, comments and users that match a query. One round trip for what was deleted lately, one call
    of the database, and then one round trip for the articles and comments of the page; another one for the articles of
    these comments.

    Raises:
        BadInput: the query is too long, or an argument of the page is wrong.
        DatabaseUnavailable: there is no database, or it does not answer.
        DatabaseTimeout: it does not answer in time.
    """
    if len(query) > QUERY_LENGTH:
        raise BadInput(f"a query has at most {QUERY_LENGTH} characters, not {len(query)}")
    paging.check()
    wanted = Search(
        phrases=parse(query),
        kinds=frozenset(SearchKind if kinds is None else kinds),
        group=None if group is None else group_name(group),
        poster=None if poster is None else _username(poster),
        order=order or SearchOrder.RELEVANCE,
    )
    listing, size = _listing(wanted), paging.size()
    beyond = None if paging.cursor is None else decode_position(listing, paging.cursor, CURSOR).position
    if context.database is None:
        raise DatabaseUnavailable("there is no search without a database: UPVOTE_DATABASE_URL=none")
    found = await _found(context, context.database, wanted)
    window = MatchWindow(listing, size, upwards=paging.last is not None, beyond=beyond)
    edges, page_info = await _page(context, wanted, found, window)
    return SearchConnection(query, wanted, edges, page_info, total=len(found.places))


async def _found(context: Context, database: Database, wanted: Search) -> Found:
    """
    The matches of a search. One call of the database. If a compiled plan fails, graphql-core executes the operation
    again: then a search that has timed out fails at once, without another call.
    """
    if message := TIMEOUTS.get(context, {}).get(wanted):
        raise DatabaseTimeout(message)
    deleted = await _deletions(context.reads)  # first: once the mirror has removed one, it is not noted any more
    try:
        return await database.search(index.find, wanted, deleted)
    except DatabaseTimeout as error:
        TIMEOUTS.setdefault(context, {})[wanted] = str(error)
        raise


async def _deletions(reads: Reads) -> frozenset[int]:
    """The articles and comments that were deleted before, and that the database may still have. One round trip."""
    return frozenset(chain(*await reads.load_all(deletions.noted(reads.site))))


def total_count(connections: Sequence[SearchConnection], context: Context) -> list[int]:
    return [connection.total for connection in connections]


async def suggestions(connections: Sequence[SearchConnection], context: Context) -> list[str | None]:
    """One call of the database for each search that has found nothing."""
    return [None if each.total else await _suggestion(each, context) for each in connections]


async def _suggestion(connection: SearchConnection, context: Context) -> str | None:
    if context.database is None or not connection.search.phrases:
        return None
    deleted = await _deletions(context.reads)
    return await context.database.search(spelling.suggestion, connection.query, connection.search, deleted)


async def excerpts(edges: Sequence[SearchEdge], context: Context) -> list[str]:
    nodes = [edge.node for edge in edges if not isinstance(edge.node, User)]
    return await _read(nodes, partial(_excerpts, edges))


async def _read(nodes: Sequence[Article | Comment], function: Callable[[], T]) -> T:
    """The result of a function that reads the texts of some nodes."""
    if sum(len(node.content or "") for node in nodes) <= LONG:
        return function()
    return await asyncio.get_running_loop().run_in_executor(READING, function)


def _excerpts(edges: Sequence[SearchEdge]) -> list[str]:
    return [excerpt(edge.phrases, _texts(edge.node)) for edge in edges]


def _texts(node: Node) -> list[str]:
    if isinstance(node, User):
        return [node.username]
    return [node.title, node.content or ""] if isinstance(node, Article) else [node.content or ""]


def _username(poster: str) -> str:
    return poster.lower() if validation.USERNAME.fullmatch(poster) else NOBODY


def _listing(search: Search) -> str:
    """The name of a search in its cursors."""
    kinds = sorted(kind.value for kind in search.kinds)
    text = repr((search.phrases, kinds, search.group, search.poster, search.order.value))
    return f"search:{sha256(text.encode()).hexdigest()[:16]}"


class MatchWindow(NamedTuple):
    """The part of a listing that is asked for: `size` matches after a position, or before it if `upwards`."""

    listing: str
    size: int
    upwards: bool
    beyond: Position | None


async def _page(
    context: Context, search: Search, found: Found, window: MatchWindow
) -> tuple[Sequence[SearchEdge], PageInfo]:
    """The edges in a window. Matches that are gone are left out, and the next ones are read in their place."""
    total = len(found.places)
    above, below = _bounds(search, found, window)
    rest = iter(range(above)[::-1] if window.upwards else range(below, total))
    edges: list[SearchEdge] = []
    while len(edges) < window.size and (indexes := list(islice(rest, window.size))):
        places = [found.places[index] for index in indexes]  # pairs of a value and a number
        nodes = await _nodes(context, search, found, [number for _, number in places])
        values = indexes if search.order is SearchOrder.RELEVANCE else [value for value, _ in places]
        pairs = zip(values, nodes, strict=True)
        edges += [SearchEdge(window.listing, value, node, search.phrases) for value, node in pairs if node]
    has_more = len(edges) > window.size or next(rest, None) is not None
    edges = edges[: window.size]
    if window.upwards:
        return edges[::-1], _page_info(edges[::-1], has_more, above < total)
    return edges, _page_info(edges, below > 0, has_more)


def _bounds(search: Search, found: Found, window: MatchWindow) -> tuple[int, int]:
    """
    The number of places above the cursor's, and that of places above or at it.

    The relevance of a match changes a little with every new article. So a page continues where the match of its cursor
    is now. If that is no match any more, it continues at the value in the cursor, or by RELEVANCE at the place.
    """
    places = found.places
    if window.beyond is None:
        end = len(places) if window.upwards else 0
        return end, end
    value, id = window.beyond.value, _row(found, window.beyond.member)
    index = next((index for index, (_, number) in enumerate(places) if number == id), None)
    if index is not None:
        return index, index + 1
    if search.order is SearchOrder.RELEVANCE:
        index = max(0, min(int(value), len(places)))
    else:
        index = bisect_left(places, (-value, -id), key=_descending)
    return index, index


def _descending(place: tuple[float, int]) -> tuple[float, int]:
    """A sort key of a place, a value and a number, by which the highest comes first."""
    value, number = place
    return -value, -number


def _row(found: Found, member: str) -> int:
    """
    The number that `Found.places` has for a member such as `article:1541` or `user:alice`: for a user the id of their
    row, or `FIRST_USER` if they are no match any more.
    """
    kind, _, name = member.partition(":")
    if kind != "user":
        return int(name)
    return next((id for id, username in found.usernames.items() if username.lower() == name), FIRST_USER)


async def _nodes(context: Context, search: Search, found: Found, numbers: Sequence[int]) -> list[Node | None]:
    """
    The records of matches; None for one that was deleted, or does not match any more. A number from `FIRST_USER` on is
    the id of a user's row in the database; lower ones are numbers of articles and comments.
    """
    of_comments = [number for number in numbers if number in found.comments]
    of_articles = [number for number in numbers if number < FIRST_USER and number not in found.comments]
    articles, comments = await gather(context.reads.articles(of_articles), context.reads.comments(of_comments))
    needed = [comment.article for comment in comments if comment and search.group is not None]
    commented = {article.number: article for article in await context.reads.articles(needed) if article}
    known = [node for node in (*articles, *comments) if node]
    edited = [node for node in known if node.edited_at is not None]
    nodes = await _read(edited, partial(_matching, search, known, commented))
    return [nodes.get(number) if number < FIRST_USER else records.user(found.usernames[number]) for number in numbers]


def _matching(
    search: Search, nodes: Sequence[Article | Comment], commented: Mapping[int, Article]
) -> dict[int, Article | Comment]:
    return {node.number: node for node in nodes if _is_match(search, node, commented)}


def _is_match(search: Search, node: Article | Comment, commented: Mapping[int, Article]) -> bool:
    """Whether it matches as it is now. `commented` has the articles of comments, for a search in a group."""
    if node.state is not ContentState.VISIBLE:
        return False
    if search.group is not None:
        article = node if isinstance(node, Article) else commented.get(node.article)
        if article is None or search.group not in article.groups:
            return False
    return node.edited_at is None or matches(search.phrases, _texts(node))


def _page_info(edges: Sequence[SearchEdge], has_previous: bool, has_next: bool) -> PageInfo:
    ends = [Edge(edge.listing, (edge.value, edge.node.id), node=None) for edge in (*edges[:1], *edges[-1:])]
    return PageInfo(has_next, has_previous, *(ends or (None, None)))
