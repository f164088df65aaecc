"""
The log of moderation as HTML, which the server renders for browsers that run no scripts.

Codes such as M9 name rows of docs/behaviours.md.
"""

import pytest

from archive import banned_texts
from server.cli import moderation, purge, role
from server.reader.moderation_texts import reason_words
from server.words.languages import languages
from store import article_moderation, bans, first_admin, reverts
from store.articles import Draft
from store.roles import OPERATOR
from tests.server.pages import HOSTILE, canonical, metas, read


@pytest.fixture
async def number(store, alice):
    return (await store.articles.post(alice, Draft("A title", content="text", groups=["show"]))).article.number


def root(page):
    return page.find(id="root")


def texts(page):
    """The text of each action in the log, the newest first."""
    return [" ".join(item.get_text(" ").split()) for item in root(page).select("ol.items li")]


async def test_log_says_who_did_what_why_and_what_reverted_it(http, store, number, alice, clock):  # M9
    banned = await bans.ban(
        store.site, OPERATOR, alice, group=None, until=clock() + 86_400_000, reason="Threats", note="a secret note"
    )
    clock.advance(1)
    removed = await article_moderation.remove(
        store.site, OPERATOR, number, group=None, reason="Advertising", note="a secret note"
    )
    clock.advance(1)
    locked = await article_moderation.lock(store.site, OPERATOR, number, group=None, reason="Heated")
    clock.advance(1)
    await reverts.revert(store.site, OPERATOR, removed.action.number, "A mistake")

    page = await read(http, "/log")

    assert page.title.text == "Moderation log · Votes & Co"
    assert (metas(page)["robots"], canonical(page)) == ("noindex", [])
    assert root(page).h1.text == "Moderation log"
    revert, lock, removal, ban = texts(page)
    assert revert.startswith("operator restored A title A mistake ")
    assert lock.startswith("operator locked A title") and "Heated" in lock
    assert removal.startswith("operator removed A title") and "Reverted by operator" in removal
    assert "banned alice from this site until August 5, 2016, " in ban and " UTC Threats" in ban
    assert root(page).find("a", href=f"article/{number}").text == "A title"
    assert "secret" not in str(page)
    assert banned.changed and locked.changed


async def test_log_of_a_subject_or_a_group_has_pages(http, store, number, alice, clock):
    for turn in range(13):
        clock.advance(1)
        removed = await article_moderation.remove(store.site, OPERATOR, number, group="show", reason=f"reason {turn}")
        clock.advance(1)
        await reverts.revert(store.site, OPERATOR, removed.action.number, "a mistake")

    first = await read(http, "/log?group=show")
    second = await read(http, f"/{root(first).find('a', rel='next')['href']}")
    other = await read(http, "/log?subject=user:alice")

    assert (len(texts(first)), len(texts(second)), texts(other)) == (25, 1, [])
    assert "operator took A title out of the group show" in texts(second)[0]
    assert root(second).find("a", rel="next") is None
    assert root(other).find("a", href="log").text == "All of the log"
    assert "Moderators have done nothing here yet." in root(other).text


async def test_removed_article_is_named_by_its_id(http, store, number):  # M2
    await article_moderation.remove(store.site, OPERATOR, number, group=None, reason=HOSTILE)

    page = await read(http, f"/log?subject=article:{number}")

    assert f"operator removed article {number}" in texts(page)[0]
    assert root(page).select_one(".excerpt").text == HOSTILE
    assert "A title" not in str(page)


@pytest.mark.parametrize("query", ["subject=group:show", "after=nonsense"])
async def test_malformed_address_is_a_wrong_request(http, number, query):
    page = await read(http, f"/log?{query}", status=400)

    assert page.title.text == "Moderation log · Votes & Co"
    assert page.find(id="root")


async def test_what_a_ban_removed_is_said_in_the_language_of_the_page(http, store, number, alice, clock):
    clock.advance(1)
    banned = await bans.ban(
        store.site, OPERATOR, alice, group=None, until=clock() + 86_400_000, reason="Spam", removes_texts=True
    )
    await banned_texts.begin(store, database=None, number=banned.action.number)
    clock.advance(1)

    for language, words in (("en", "with a ban of its poster"), ("de", "mit dem Ausschluss des Kontos")):
        log = root(await read(http, f"/log?lang={language}"))
        assert log.find("a", string=words)["href"].startswith("log?subject=user%3Aalice")
        response = await http.get(f"/article/{number}?lang={language}")
        assert f": {words}." in response.text
        assert "action:" not in str(log) + response.text
    await reverts.revert(store.site, OPERATOR, banned.action.number, "A mistake")
    await banned_texts.begin(store, database=None, number=banned.action.number)
    clock.advance(1)

    log = root(await read(http, "/log"))
    assert len(log.find_all("a", string="the ban of its poster was taken back")) == 1
    assert "action:" not in str(log)


@pytest.mark.parametrize(
    ("reason", "german"),
    [
        (first_admin.REASON, "beim ersten Start durch UPVOTE_ADMIN benannt"),
        (role.REASON, "durch einen Befehl der Shell"),
        (moderation.REASON, "alle Entscheidungen dieses Kontos seit damals werden zurückgenommen"),
        (purge.REASON, "dies darf nicht stehen bleiben"),
        ("a moderator's own", ""),
    ],
)
def test_reasons_that_the_server_gives_itself_have_words_in_each_language(reason, german):
    words = languages({}, "en").words

    assert reason_words(words["de"], reason) == german
    assert reason_words(words["en"], reason) == (reason if german else "")
