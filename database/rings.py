"""
What a search for rings reads from the database, and the rings that it has found, which are kept there for moderators. A
ring is a group of users who vote for what each other post much more often than chance explains.

Votes that do not count, as a moderator has annulled them, are left out, and so are those of posters on what they have
posted.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from database.statements import Statement, slices

if TYPE_CHECKING:
    from database.statements import Connection

READ_AT_ONCE = 50_000  # rows of a query, some tenths of a second
LISTED_MEMBERS = 100  # of a ring, when it is read
NEWEST = (2**63 - 1, "")  # a number and a voter that come before those of the newest vote


class Upvote(NamedTuple):
    """
    A vote for a text: the article or comment with this `number`. `group` is the first group of the article; "" if it is
    in none.
    """

    number: int
    voter: str
    poster: str
    posted_at: int  # unix milliseconds
    group: str


class RankedArticle(NamedTuple):
    """A visible article with its upvotes minus downvotes."""

    number: int
    posted_at: int  # unix milliseconds
    votes: int


class CountedVote(NamedTuple):
    """A vote of 1 or -1 on an article, that counts."""

    number: int
    value: int


class RingMove(NamedTuple):
    """
    An article that would lose `votes` votes and move from one place to another, of all articles by score, if all votes
    of the members of a ring were annulled. The first place is 1.
    """

    ring: int
    article: int
    votes: int
    place: int
    new_place: int

    @property
    def id(self) -> str:
        return f"ring-move:{self.ring}:{self.article}"


@dataclass(frozen=True, slots=True)
class Ring:
    """
    A ring that a search has found. `members` are names as written, at most `LISTED_MEMBERS` of `member_count` when it
    is read.

    Of the `votes` among the members, chance explains `expected`. The average member has voted for a share `coverage`
    (0 to 1) of what the others have posted. If all votes of the members were annulled, `article_votes` and
    `comment_votes` would count no more, and `moved` articles would change their place; `moves` are those that would
    change it most.
    """

    number: int
    found_at: int  # unix milliseconds
    members: Sequence[str]
    member_count: int
    votes: int
    expected: float
    coverage: float
    article_votes: int
    comment_votes: int
    moved: int
    moves: Sequence[RingMove]

    @property
    def id(self) -> str:
        return f"ring:{self.number}"

    @property
    def is_cacheable(self) -> bool:
        """Never, because only moderators may read it."""
        return False


def votes_on_articles(connection: "Connection", before: tuple[int, str]) -> list[Upvote]:
    """
    The next `READ_AT_ONCE` votes for articles, the newest articles first. `before` is the number and the voter of the
    last vote that was read, or `NEWEST`.
    """
    return _votes(connection, ARTICLE_VOTES, before)


def votes_on_comments(connection: "Connection", before: tuple[int, str]) -> list[Upvote]:
    return _votes(connection, COMMENT_VOTES, before)


def articles(connection: "Connection", after: int) -> list[RankedArticle]:
    """The next `READ_AT_ONCE` visible articles with a greater number than `after`, by their numbers."""
    return [RankedArticle(*row) for row in ARTICLES.run(connection, {"after": after, "most": READ_AT_ONCE})]


def cast_on_articles(connection: "Connection", voter: str, after: int) -> list[CountedVote]:
    """The next `READ_AT_ONCE` votes of a user, up and down, on articles of others that count, by their numbers."""
    given = {"voter": voter, "after": after, "most": READ_AT_ONCE}
    return [CountedVote(*row) for row in CAST_ON_ARTICLES.run(connection, given)]


def count_on_comments(connection: "Connection", voter: str) -> int:
    """How many votes of a user, up and down, on comments of others count."""
    return int(COUNT_ON_COMMENTS.run(connection, {"voter": voter}).scalar_one())


def replace_all(connection: "Connection", at: int, votes: int, users: int, rings: Iterable[Ring]) -> None:
    """Replace the rings in the database by those of a new search, which has read `votes` votes by `users` users."""
    for statement in FORGET:
        statement.run(connection)
    NOTE_SEARCH.run(connection, {"at_ms": at, "votes": votes, "users": users})
    for ring in rings:
        KEEP_RING.run(connection, {name: getattr(ring, name) for name in RING_COLUMNS})
        members = [{"ring": ring.number, "username": name} for name in ring.members]
        for some in slices(members):
            KEEP_MEMBERS.run(connection, some)
        if ring.moves:
            KEEP_MOVES.run(connection, [move._asdict() for move in ring.moves])


def of_users(connection: "Connection", names: Collection[str]) -> dict[str, Ring]:
    """The ring of each of some users, given by their names as written; users who are in none are left out."""
    ring_of: dict[str, int] = {}
    for some in slices(set(names)):
        ring_of.update((name, number) for number, name in RINGS_OF_USERS.run(connection, {"names": some}))
    if not ring_of:
        return {}
    numbers = {"numbers": sorted(set(ring_of.values()))}
    moves: dict[int, list[RingMove]] = {}
    for row in MOVES.run(connection, numbers):
        moves.setdefault(row.ring, []).append(RingMove(*row))
    rings = {row.number: _ring(connection, row, moves.get(row.number, [])) for row in RINGS.run(connection, numbers)}
    return {name: rings[number] for name, number in ring_of.items() if number in rings}


def _ring(connection: "Connection", row: Any, moves: Sequence[RingMove]) -> Ring:
    given = {"ring": row.number, "most": LISTED_MEMBERS}
    return Ring(members=MEMBERS.run(connection, given).scalars().all(), moves=moves, **row._mapping)


def _votes(connection: "Connection", statement: Statement, before: tuple[int, str]) -> list[Upvote]:
    number, voter = before
    rows = statement.run(connection, {"number": number, "voter": voter, "most": READ_AT_ONCE})
    return [Upvote(*row) for row in rows]


PAGE = """SELECT cast_votes.number, voter, things.poster, things.posted_ms, coalesce(first_groups.name, '')
  FROM {votes} AS cast_votes JOIN {things} AS things ON things.number = cast_votes.number
  LEFT JOIN article_groups AS first_groups ON first_groups.number = things.{article} AND first_groups.place = 0
  WHERE (cast_votes.number, voter) < (:number, :voter) AND value = 1 AND counts AND things.poster <> voter
  ORDER BY cast_votes.number DESC, voter DESC LIMIT :most"""
ARTICLE_VOTES = Statement(PAGE.format(votes="votes", things="articles", article="number"))
COMMENT_VOTES = Statement(PAGE.format(votes="comment_votes", things="comments", article="article"))
ARTICLES = Statement(
    """SELECT number, posted_ms, up - down FROM articles
    WHERE state = 'VISIBLE' AND number > :after ORDER BY number LIMIT :most"""
)
CAST = """FROM {votes} AS cast_votes JOIN {things} AS things ON things.number = cast_votes.number
  WHERE voter = :voter AND counts AND things.poster <> voter"""
CAST_ON_ARTICLES = Statement(
    f"""SELECT cast_votes.number, value {CAST.format(votes="votes", things="articles")}
    AND cast_votes.number > :after ORDER BY cast_votes.number LIMIT :most"""
)
COUNT_ON_COMMENTS = Statement(f"SELECT count(*) {CAST.format(votes='comment_votes', things='comments')}")
RING_COLUMNS = (
    "number", "votes", "expected", "coverage", "article_votes", "comment_votes", "moved",
)  # fmt: skip
FORGET = [Statement(f"DELETE FROM {table}") for table in ("ring_searches", "ring_moves", "ring_members", "rings")]
NOTE_SEARCH = Statement("INSERT INTO ring_searches VALUES (1, :at_ms, :votes, :users)")
KEEP_RING = Statement(
    f"INSERT INTO rings ({', '.join(RING_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in RING_COLUMNS)})"
)
KEEP_MEMBERS = Statement("INSERT INTO ring_members (ring, username) VALUES (:ring, :username)")
KEEP_MOVES = Statement("INSERT INTO ring_moves VALUES (:ring, :article, :votes, :place, :new_place)")
RINGS_OF_USERS = Statement("SELECT ring, username FROM ring_members WHERE username IN :names", "names")
RINGS = Statement(
    f"""SELECT {", ".join(RING_COLUMNS)}, (SELECT at_ms FROM ring_searches) AS found_at,
    (SELECT count(*) FROM ring_members WHERE ring = number) AS member_count FROM rings WHERE number IN :numbers""",
    "numbers",
)
MEMBERS = Statement(
    "SELECT username FROM ring_members WHERE ring = :ring ORDER BY lower(username), username LIMIT :most"
)
MOVES = Statement(
    """SELECT ring, article, votes, place, new_place FROM ring_moves WHERE ring IN :numbers
    ORDER BY ring, new_place - place DESC, article""",
    "numbers",
)
