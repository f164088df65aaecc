"""What the page behind a link calls itself."""

from resolvers.arguments import checked_link
from resolvers.context import Context
from store.errors import NotOffered


async def link_title(context: Context, link: str) -> str | None:
    """
    The title of the page behind a link, to suggest one for an article; None if it has none. Three round trips: one for
    the user, two for the rate limit.

    Raises:
        BadInput: this is no link.
        NotOffered: the site reads no pages.
        Unauthenticated: nobody is logged in.
        RateLimited: the user has asked too often.
    """
    valid = checked_link(link)
    if context.titles is None:
        raise NotOffered("this site does not look up the titles of links")
    username = await context.store.site.username(context.actor())
    if context.address is not None:  # rate limits are on
        await context.store.attempts.count(context.rates.of_titles(username))
    return await context.titles.title(valid)
