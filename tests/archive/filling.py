"""
Writes articles to the archive in the SQL database directly, without a move from Redis, for tests of what it answers.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, insert

from database import article_places
from database.tables import ARTICLE_GROUPS, ARTICLES
from store.records import Article
from store.site import Site


def archive_all(connection: Connection, site: Site, articles: Sequence[Article]) -> None:
    """Write the rows that the mirror writes, and archive the articles."""
    write_rows(connection, articles)
    article_places.archive(connection, site, articles)


def write_rows(connection: Connection, articles: Sequence[Article]) -> None:
    """Write the rows of articles and of their groups as the mirror does, which follows the log of the store."""
    rows = [
        {
            "number": each.number, "poster": each.poster, "title": each.title, "link": each.link,
            "content": each.content, "posted_ms": each.posted_at, "edited_ms": each.edited_at, "up": each.upvotes,
            "down": each.downvotes, "imported_votes": each.imported_votes, "archived": False,
        }
        for each in articles
    ]  # fmt: skip
    groups = [
        {"number": each.number, "name": name, "place": place}
        for each in articles
        for place, name in enumerate(each.groups)
    ]
    connection.execute(insert(ARTICLES), rows)
    if groups:
        connection.execute(insert(ARTICLE_GROUPS), groups)
