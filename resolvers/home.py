"""
The viewer's home, their own front page: its articles, and what they choose for it, which is the groups that they
follow, the users whom they block and the articles that they hide. A request has at most one home.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
A place is the position of an article in a listing: its value by the order, and its number.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from archive.moments import load_again
from resolvers import arguments, users
from resolvers.arguments import PageArguments, articles_by, paginated
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.pagination import (
    Connection,
    article_window,
    connection_of_page,
    name_connection,
    user_connections,
)
from store import blocked, home_pins, keys, records, validation
from store import home as homes_of_store
from store.blocked import Blocked
from store.home import Choices, Chosen, HomeListing
from store.listings import Page, Window
from store.ranking.formulas import Order
from store.records import Article, Group, Home, Position, User

TRIES = 20  # to read a page, as long as the viewer follows, blocks or hides something else meanwhile


async def home(context: Context) -> Home | None:
    username = await context.viewer()
    return Home(username) if username else None


@paginated
async def articles_of(
    homes: Sequence[Home],
    context: Context,
    order: Order | None = Order.HOT,
    since: int | None = None,
    *,
    paging: PageArguments,
    pinned: bool | None = False,
) -> list[Connection[Article]]:
    """
    A page of the home. Three round trips: one for what the viewer follows and hides, one for the places in the listing,
    one for the articles. The last one reads what the viewer follows and hides again, so that a page is of one moment.
    """
    return [await _page(home, context, order or Order.HOT, since, paging, bool(pinned)) for home in homes]


@paginated
async def groups(homes: Sequence[Home], context: Context, *, paging: PageArguments) -> list[Connection[Group]]:
    names = await context.reads.load_all(homes_of_store.groups(context.store.site, home.username) for home in homes)
    return [
        name_connection(f"home:{home.username.lower()}:groups", own, paging, validation.GROUP, records.group)
        for home, own in zip(homes, names, strict=True)
    ]


@paginated
async def blocked_of(
    homes: Sequence[Home], context: Context, *, paging: PageArguments
) -> list[Connection[User] | arguments.BadInput]:
    listings = [blocked.listing(context.store.site, home.username) for home in homes]
    return await user_connections(context, listings, paging)


async def block(context: Context, user_id: str) -> Blocked:
    actor, username = context.actor(), users.checked_username(user_id)
    result = await context.write(blocked.block(context.store.site, actor, username))
    context.reads.set_checked_login(result.username)
    return result


async def unblock(context: Context, user_id: str) -> Blocked:
    actor, username = context.actor(), users.checked_username(user_id)
    result = await context.write(blocked.unblock(context.store.site, actor, username))
    context.reads.set_checked_login(result.username)
    return result


async def _page(
    home: Home, context: Context, order: Order, since: int | None, paging: PageArguments, pinned: bool
) -> Connection[Article]:
    """A page. If the viewer chooses something else while it is read, it is read again, up to `TRIES` times."""
    site, username, reads = context.store.site, home.username, context.reads
    whole = articles_by(site, order, group=None, posted_since=since)
    choice_reads = homes_of_store.chosen(site, username)
    chosen = Chosen.of(username, await reads.load_all(choice_reads))  # `choices`, and what the viewer hides
    for tries_left in reversed(range(TRIES)):
        listing = homes_of_store.listing_of(chosen.choices, order, whole)
        window = article_window(whole._replace(name=listing.name), paging)
        is_pinned = pinned if paging.cursor is None else window.is_pinned
        page = await (_pinned_page if is_pinned else _current_page)(context, reads, listing, window)
        connecting = connection_of_page(context, listing.name, page, total=0)  # a home has no `totalCount`
        connection: Connection[Article]
        connection, again = await asyncio.gather(connecting, load_again(site, choice_reads))
        before, chosen = chosen, Chosen.of(username, again)
        if chosen == before or not tries_left:
            return connection
        reads = Reads(context.store, login=None, database=context.database)  # the old ones have what was chosen before
    raise AssertionError("the last try returns")


async def _current_page(context: Context, reads: Reads, listing: HomeListing, window: Window) -> Page:
    return await reads.home_page(listing, window)


async def _pinned_page(context: Context, reads: Reads, listing: HomeListing, window: Window) -> Page:
    """
    A page of the pin of a home: the first places as they were at an instant, which the store keeps for some minutes, so
    that pages fit together. The first page makes the pin, which takes one round trip more.

    After the last place of the pin the current home continues. If the pin has expired, another one has taken its place,
    or the store takes no writes, the current home continues from the position, and `extensions` of the response says
    so.
    """
    site, at = context.store.site, context.now if window.at is None else window.at
    if window.beyond is None:
        found = await reads.home_page(listing, Window(home_pins.MAX_PLACES, at=at))
        places: list[Position] | None = list(found.positions)
        if not await home_pins.pin(site, listing, at, found.positions):
            places = None
    else:
        places = await reads.load(home_pins.pinned(site, listing, at))
    if places is None:
        context.note_expired_pin(listing.name)
        return await reads.home_page(listing, window)
    is_whole = len(places) < home_pins.MAX_PLACES  # the pin has all places of the home
    if not is_whole and window.beyond is not None and window.beyond < places[-1]:  # after the last place
        return await reads.home_page(listing, window)
    page = _cut(await _shown(reads, listing.choices, places), window)
    if not (is_whole or window.upwards or page.below):
        page = await _continued(reads, listing, page, Window(window.count, beyond=places[-1], at=at))
    return page._replace(at=at, is_pinned=True)


async def _continued(reads: Reads, listing: HomeListing, page: Page, rest: Window) -> Page:
    """
    A page that ends at the last place of its pin, filled up to `rest.count` places. `rest` is the window of the current
    home after that place.
    """
    missing = rest.count - len(page.positions)
    found = await reads.home_page(listing, replace(rest, count=max(missing, 1)))  # at least 1, to see if any follows
    below = found.below + len(found.positions[missing:])
    return page._replace(positions=(*page.positions, *found.positions[:missing]), below=below)


async def _shown(reads: Reads, choices: Choices, places: Sequence[Position]) -> list[Position]:
    """Places without the articles that a user hides or whose posters they block. One or two round trips."""
    hides = await reads.hidden(choices.username, [place.number for place in places])
    names = {name.lower() for name in choices.blocked}
    slots = set(map(keys.slot, names))
    # the number of an article contains the slot, a hash of its poster's name: those with other slots need not be read
    suspects = [place.number for place in places if place.number % keys.SLOTS in slots]
    posters = dict(zip(suspects, await reads.articles(suspects), strict=True))
    return [
        place
        for place in places
        if place.number not in hides
        and not ((article := posters.get(place.number)) and article.poster.lower() in names)
    ]


def _cut(places: Sequence[Position], window: Window) -> Page:
    """The part of pinned places that a window shows. The article at `window.beyond` need not be among them any more."""
    ahead = list(reversed(places)) if window.upwards else list(places)
    start = 0
    if window.beyond is not None:
        beyond = window.beyond
        start = sum(place <= beyond if window.upwards else place >= beyond for place in places)
    end = start + window.count
    shown, further = ahead[start:end], max(len(ahead) - end, 0)
    if window.upwards:
        return Page(tuple(reversed(shown)), above=further, below=start)
    return Page(tuple(shown), above=start, below=further)
