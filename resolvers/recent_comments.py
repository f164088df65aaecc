"""The comments of the whole site, or of a group, the newest first."""

from collections.abc import Iterable
from functools import partial

from resolvers.arguments import PageArguments, group_name, paginated
from resolvers.comments import COMMENT_NODES
from resolvers.context import Context
from resolvers.filling import Source, full_connection
from resolvers.older_comments import CommentsByTime
from resolvers.pagination import Connection, Nodes
from store.records import Comment, ContentState


@paginated
async def comments(context: Context, group: str | None = None, *, paging: PageArguments) -> Connection[Comment]:
    """
    Three round trips, for the positions in the list, the comments and their articles, and a query
    of the database for positions that are no longer in Redis. Comments that are not visible, and those that are in
    other groups by now, are left out.
    """
    name = None if group is None else group_name(group)  # checked
    listed = CommentsByTime(group=name)
    # the total is counted by `listed.count`, and only if the client asks for it
    listing = listed.listing(context.store.site)
    source = Source(listing.name, page=partial(listed.page, context), total=listed)
    return await full_connection(context, source, paging, Nodes(partial(_read, name), COMMENT_NODES.bytes_of))


async def _read(group: str | None, context: Context, numbers: Iterable[int]) -> list[Comment | None]:
    """Comments that everybody may read and whose article is in the group, if one is given; None for others."""
    wanted = list(numbers)
    await COMMENT_NODES.read(context, wanted)  # `context.reads` then has them, with the viewer's votes
    visible = ContentState.VISIBLE
    return [
        comment
        if comment and article and comment.state is article.state is visible and group in (None, *article.groups)
        else None
        for comment, article in await context.reads.stored_comments(wanted)
    ]
