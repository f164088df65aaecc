"""
An article with its comments: reading, answering, editing, deleting, voting, and what changes while it is read.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it. A rule of
the site holds texts with the words "held by a rule".

Codes such as M10 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

from playwright.async_api import Locator, Page, expect

from tests.reader.conftest import PHONE, log_out, opened
from tests.reader.lines import button, expect_votes
from tests.reader.site import Member, Site

COUNT = "query($id: ID!) { article(id: $id) { commentCount } }"
HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "<img src=//elsewhere/x onerror=alert(1)>",
    "![](https://elsewhere.example/pixel.png)",
    "[click](javascript:alert(1))",
    "</article></li></ol><h1>mine</h1>",
]


async def test_comment_is_posted_once_by_a_double_click_and_gets_the_focus(visit, site, axe):
    member, article = discussed(site)
    page = await visit(member)
    await opened(page, site.path(article))

    await page.get_by_label("Your comment").fill("I have *an* answer.")
    await page.get_by_role("button", name="Comment", exact=True).dblclick()

    posted = comment(page, "I have an answer.")
    await expect(posted).to_be_focused()
    await expect(posted.locator("em")).to_have_text("an")
    await expect(page.get_by_role("heading", name="1 comment")).to_be_visible()
    await expect(page.get_by_label("Your comment")).to_have_value("")
    await expect(page.get_by_role("button", name="Comment", exact=True)).to_have_count(0)  # it is one line high again
    assert site.ask(COUNT, id=article)["article"]["commentCount"] == 1
    assert await axe(page) == []


async def test_box_for_a_comment_is_one_line_until_it_has_the_focus(visit, site, axe):
    member, article = discussed(site)
    page = await visit(member)
    await opened(page, site.path(article))
    box, post = page.get_by_label("Your comment"), page.get_by_role("button", name="Comment", exact=True)
    await expect(box).to_be_visible()
    await expect(post).to_have_count(0)
    assert (await box.bounding_box())["height"] < 48
    assert await axe(page) == []

    await box.focus()
    await expect(post).to_be_visible()
    assert (await box.bounding_box())["height"] > 90
    await box.fill("begun")
    await page.reload()

    await expect(box).to_have_value("begun")
    await expect(post).to_be_visible()


async def test_comment_that_a_rule_holds_waits_for_a_moderator(visit, site, axe):  # M10
    member, article = discussed(site, "first")
    page = await visit(member)
    await opened(page, site.path(article))

    await comment(page, "first").get_by_role("button", name="Reply").click()
    await comment(page, "first").get_by_label("Reply to").fill("a text held by a rule")
    await page.keyboard.press("Control+Enter")

    await expect(page.get_by_text("Your comment waits for a moderator.")).to_be_visible()
    await expect(page.get_by_label("Reply to")).to_have_count(0)
    await expect(comment(page, "a text held by a rule")).to_have_count(0)
    assert site.ask(COUNT, id=article)["article"]["commentCount"] == 1
    assert await axe(page) == []


async def test_reply_stands_below_what_it_answers(visit, site, axe):
    member, article = discussed(site, "first", "second")
    page = await visit(member)
    await opened(page, site.path(article))
    above = comment(page, "first")

    await above.get_by_role("button", name="Reply").click()
    await expect(above.get_by_label("Reply to")).to_be_focused()
    assert await axe(page) == []
    await above.get_by_label("Reply to").fill("a reply to the first")
    await page.keyboard.press("Control+Enter")

    await expect(above.get_by_role("textbox")).to_have_count(0)
    await expect(comment(page, "a reply to the first")).to_be_focused()
    shown = await texts(page)
    assert shown.index("a reply to the first") == shown.index("first") + 1


async def test_cancelled_reply_gives_the_focus_back(visit, site):
    member, article = discussed(site, "first")
    page = await visit(member)
    await opened(page, site.path(article))

    await comment(page, "first").get_by_role("button", name="Reply").click()
    await page.get_by_role("button", name="Cancel").click()

    await expect(comment(page, "first").get_by_role("button", name="Reply")).to_be_focused()


async def test_draft_outlives_a_reload(visit, site):
    member, article = discussed(site, "first")
    page = await visit(member)
    await opened(page, site.path(article))
    await page.get_by_label("Your comment").fill("half a thought")
    await comment(page, "first").get_by_role("button", name="Reply").click()
    await page.get_by_label("Reply to").fill("half a reply")

    await page.reload()

    await expect(page.get_by_label("Your comment")).to_have_value("half a thought")
    await expect(page.get_by_label("Reply to")).to_have_value("half a reply")


async def test_comment_stays_in_its_form_when_the_session_ends(visit, site):
    member, article = discussed(site, "first")
    page = await visit(member)
    await opened(page, site.path(article))
    await page.get_by_label("Your comment").fill("a long thought")
    await comment(page, "first").get_by_role("button", name="Reply").click()
    await page.get_by_label("Reply to").fill("a long reply")
    site.ask("mutation { logOut { userErrors { message } } }", member)

    await page.keyboard.press("Control+Enter")

    await expect(page.get_by_text("Your session has ended. Log in again.", exact=True)).to_be_visible()
    await expect(page.get_by_label("Reply to")).to_have_value("a long reply")
    await expect(page.get_by_label("Your comment")).to_have_value("a long thought")
    assert site.ask(COUNT, id=article)["article"]["commentCount"] == 1


async def test_refused_comment_says_why_at_its_field_and_keeps_the_text(visit, site):
    member, article = discussed(site)
    page = await visit(member)
    await opened(page, site.path(article))

    await page.get_by_label("Your comment").fill("  ")
    await page.get_by_role("button", name="Comment", exact=True).click()

    await expect(page.get_by_label("Your comment")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_text("only blanks and invisible characters")).to_be_visible()
    await expect(page.get_by_label("Your comment")).to_have_value("  ")
    assert site.ask(COUNT, id=article)["article"]["commentCount"] == 0


async def test_comment_that_is_too_long_is_told_before_it_is_sent(visit, site):
    member, article = discussed(site)
    page = await visit(member)
    await opened(page, site.path(article))

    await page.get_by_label("Your comment").fill("x" * 10_001)

    await expect(page.get_by_label("Your comment")).to_have_accessible_description(
        re.compile(r"10,001 of 10,000 characters At most 10,000 characters\.$")
    )


async def test_reply_to_a_comment_that_is_deleted_meanwhile_says_so(visit, site):
    member, article = discussed(site)
    other = site.member()
    above = site.comment(other, article, "short-lived")
    page = await visit(member)
    await page.route_web_socket(re.compile("graphql"), lambda socket: None)
    await opened(page, site.path(article))
    await comment(page, "short-lived").get_by_role("button", name="Reply").click()
    site.delete(other, above)

    await page.get_by_label("Reply to").fill("too late")
    await page.keyboard.press("Control+Enter")

    await expect(page.locator("[role=alert] .refusal")).to_contain_text("comment")
    await expect(page.get_by_label("Reply to")).to_have_value("too late")


async def test_comment_is_edited_in_place(visit, site):
    member, article = discussed(site)
    site.comment(member, article, "first version")
    page = await visit(member)
    await opened(page, site.path(article))

    await comment(page, "first version").get_by_role("button", name="Edit").click()
    await expect(page.get_by_label("Edit your comment")).to_have_value("first version")
    await page.keyboard.type(", and a second one")
    await page.get_by_role("button", name="Save").click()

    edited = comment(page, "first version, and a second one")
    await expect(edited.locator(".edited")).to_contain_text("edited")
    await expect(edited.get_by_role("button", name="Edit")).to_be_focused()


async def test_deleted_comment_is_gone_or_stays_for_its_replies(visit, site, axe):
    member, article = discussed(site)
    answered = site.comment(member, article, "with a reply")
    site.comment(site.member(), article, "the reply", parent=answered)
    site.comment(member, article, "without replies")
    page = await visit(member)
    await opened(page, site.path(article))

    await comment(page, "without replies").get_by_role("button", name="Delete").click()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await expect(comment(page, "without replies").get_by_role("button", name="Delete")).to_be_focused()
    for text in ("without replies", "with a reply"):
        await comment(page, text).get_by_role("button", name="Delete").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(comment(page, text)).to_have_count(0)

    await expect(comment(page, "This comment was deleted.")).to_be_focused()
    await expect(page.get_by_role("heading", name="1 comment")).to_be_visible()
    assert await texts(page) == ["This comment was deleted.", "the reply"]


async def test_vote_on_a_comment_counts_and_is_taken_back_if_it_is_refused(visit, site):
    member, article = discussed(site, "of another user")
    site.comment(member, article, "of one's own")
    page = await visit(member)
    await opened(page, site.path(article))

    await button(comment(page, "of another user")).click()
    await expect_votes(comment(page, "of another user"), 2, "UP")
    await button(comment(page, "of one's own"), "down").click()

    await expect(page.get_by_text("Your vote was not counted.")).to_be_visible()
    await expect_votes(comment(page, "of one's own"), 1, "UP")
    await page.reload()
    await expect_votes(comment(page, "of another user"), 2, "UP")


async def test_new_comments_are_announced_and_shown_when_asked_for(visit, site, axe):
    member, article = discussed(site, "first")
    writer = site.member("writer")
    page = await visit(member)
    await opened(page, site.path(article))
    await visit.subscribed(page, "commentPosted")

    for text in ("news", "more news", "even more news"):
        site.comment(writer, article, text)

    announced = page.get_by_role("button", name="3 new comments")
    await expect(announced).to_be_visible()
    assert await texts(page) == ["first"]
    assert await axe(page) == []
    await announced.click()
    await expect(comment(page, "even more news")).to_be_focused()
    assert sorted(await texts(page)) == ["even more news", "first", "more news", "news"]
    await expect(announced).to_have_count(0)


async def test_comment_is_announced_in_the_browser_of_another_user(visit, site):
    member, article = discussed(site)
    reader, writer = await visit(member), await visit(site.member())
    await opened(reader, site.path(article))
    await visit.subscribed(reader, "commentPosted")
    await opened(writer, site.path(article))

    await writer.get_by_label("Your comment").fill("from elsewhere")
    await writer.get_by_role("button", name="Comment", exact=True).click()
    await expect(comment(writer, "from elsewhere")).to_be_focused()

    await expect(reader.get_by_role("heading", name="1 comment")).to_be_visible()
    await reader.get_by_role("button", name="1 new comment").click()
    await expect(comment(reader, "from elsewhere")).to_be_focused()
    await expect(writer.get_by_role("button", name="new comment")).to_have_count(0)


async def test_changes_of_others_are_shown_in_place(visit, site):
    writer, voter = site.member("writer"), site.member()
    _, article = discussed(site, "answered")
    other = site.comment(writer, article, "before")
    page = await visit()
    await opened(page, site.path(article))
    await visit.subscribed(page, "commentChanged")
    await visit.subscribed(page, "articleChanged")

    site.vote(voter, other)
    site.vote(voter, article)
    await expect_votes(comment(page, "before"), 2)
    await expect_votes(page.locator("main"), 2)
    edit = "mutation($input: EditCommentInput!) { editComment(input: $input) { userErrors { message } } }"
    site.ask(edit, writer, input={"commentId": other, "content": "after"})
    await expect(comment(page, "after")).to_be_visible()
    site.delete(writer, other)
    await expect(comment(page, "after")).to_have_count(0)
    await expect(page.get_by_role("heading", name="1 comment")).to_be_visible()


async def test_article_that_is_deleted_while_it_is_read_says_so(visit, site):
    poster = site.member()
    article = site.post(poster, "Short-lived")
    page = await visit()
    await opened(page, site.path(article))
    await visit.subscribed(page, "articleChanged")

    delete = "mutation($input: DeleteArticleInput!) { deleteArticle(input: $input) { userErrors { message } } }"
    site.ask(delete, poster, input={"articleId": article})

    await expect(page.get_by_text("This article was deleted")).to_be_visible()


async def test_branch_collapses_by_mouse_and_by_key(visit, site, axe):
    member, article = discussed(site)
    top = site.comment(member, article, "top")
    reply = site.comment(member, article, "reply", parent=top)
    site.comment(member, article, "reply to the reply", parent=reply)
    page = await visit()
    await opened(page, site.path(article))
    first = page.get_by_role("article").first

    await first.get_by_role("button", name="with replies").click()
    await expect(first.get_by_text("2 replies")).to_be_visible()
    assert await texts(page) == []
    assert await axe(page) == []
    await page.keyboard.press("x")
    await expect(comment(page, "reply to the reply")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await expect(comment(page, "reply to the reply")).to_have_count(0)
    assert await texts(page) == ["top"]


async def test_deep_replies_load_in_their_place(visit, site):
    member, article = discussed(site)
    parent = None
    for level in range(15):
        parent = site.comment(member, article, f"level {level}", parent=parent)
    page = await visit()
    await opened(page, site.path(article))

    await page.get_by_role("button", name="4 more replies").click()

    await expect(comment(page, "level 11")).to_be_focused()
    assert await texts(page) == [f"level {level}" for level in range(15)]


async def test_next_pages_load_below(visit, site):
    member, article = discussed(site)
    fill(site, member, article, 205)
    page = await visit()
    await opened(page, f"{site.path(article)}?order=OLDEST")

    for number, focused in ((100, "filler 100"), (200, "filler 200")):
        assert len(await texts(page)) == number
        await page.get_by_role("button", name="More comments").click()
        await expect(comment(page, focused)).to_be_focused()

    assert await texts(page) == [f"filler {number}" for number in range(205)]
    await expect(page.get_by_role("button", name="More comments")).to_have_count(0)


async def test_loaded_pages_stay_when_the_viewer_logs_out(visit, site):
    member, article = discussed(site)
    parent = None
    for level in range(13):
        parent = site.comment(member, article, f"level {level}", parent=parent)
    page = await visit(member)
    await opened(page, site.path(article))
    await page.get_by_role("button", name="2 more replies").click()
    await expect(comment(page, "level 12")).to_be_visible()

    await log_out(page)

    await expect(page.get_by_text("Log in to comment.")).to_be_visible()
    await expect(comment(page, "level 12")).to_be_visible()
    await expect(comment(page, "level 11")).not_to_be_focused()


async def test_page_of_one_comment_shows_what_is_above_and_below(visit, site):
    member, article = discussed(site, "elsewhere")
    comments = []
    for level in range(8):
        comments.append(site.comment(member, article, f"level {level}", comments[-1] if comments else None))
    page = await visit(member)

    await opened(page, site.path(article, comments[5]))

    assert await texts(page) == [f"level {level}" for level in (1, 2, 3, 4, 5, 6, 7)]
    await expect(page.locator("[aria-current=true]")).to_have_attribute(
        "id", f"comment-{comments[5].partition(':')[2]}"
    )
    await page.get_by_role("button", name="1 comment above").click()
    assert (await texts(page))[0] == "level 0"
    await comment(page, "level 5").get_by_role("button", name="Reply").click()
    await page.get_by_label("Reply to").fill("a reply on this page")
    await page.keyboard.press("Control+Enter")
    await expect(comment(page, "a reply on this page")).to_be_focused()
    await comment(page, "level 5").get_by_role("link", name="in reply to").click()
    await expect(comment(page, "level 4")).to_be_focused()


async def test_orders_are_links(visit, site):
    _, article = discussed(site, "older", "newer")
    page = await visit()
    await opened(page, site.path(article))

    await page.get_by_role("link", name="Oldest").click()
    await expect(page.get_by_role("link", name="Oldest")).to_have_attribute("aria-current", "page")
    await expect(page.locator(".comment").first).to_contain_text("older")
    await page.get_by_role("link", name="Newest").click()
    await expect(page.locator(".comment").first).to_contain_text("newer")
    await page.go_back()
    await expect(page.locator(".comment").first).to_contain_text("older")


async def test_hostile_comments_are_texts(visit, site):
    _, article = discussed(site, *HOSTILE)
    page = await visit(viewport=PHONE)
    await opened(page, f"{site.path(article)}?order=OLDEST")
    await expect(page.locator(".markdown").first).not_to_have_class(re.compile("plain"))

    shown = await texts(page)

    assert shown[0:2] == HOSTILE[0:2]
    assert shown[3:5] == ["click", HOSTILE[4]]
    links = page.locator(".markdown a")
    assert await links.evaluate_all("all => all.map(each => [each.href, each.rel])") == [
        ["https://elsewhere.example/pixel.png", "nofollow ugc noopener"]
    ]
    assert await page.locator("h1").count() == 1
    assert await page.title() != "taken"


async def test_texts_are_shown_as_written_if_their_renderer_does_not_load(visit, site, faults):
    _, article = discussed(site, "some *text*")
    page = await visit()
    await page.route("**/RenderedMarkdown-*.js", lambda route: route.abort("connectionreset"))

    await page.goto(site.path(article))

    await expect(comment(page, "some *text*")).to_be_visible()
    await faults.expect("console error: .*ERR_CONNECTION_RESET")
    faults.ignore("request failed: .*RenderedMarkdown")


async def test_mention_leads_to_the_user(visit, site):
    member, article = discussed(site)
    site.comment(member, article, f"Ask @{member.username}.")
    page = await visit()
    await opened(page, site.path(article))
    await page.evaluate("window.isSamePage = true")

    await page.get_by_role("link", name=f"@{member.username}").click()

    await expect(page).to_have_url(f"{site.url}/user/{member.username}")
    assert await page.evaluate("window.isSamePage")


async def test_visitor_is_asked_to_log_in(visit, site):
    _, article = discussed(site, "first")
    page = await visit()
    await opened(page, site.path(article))

    await expect(page.get_by_text("Log in to comment.")).to_be_visible()
    await comment(page, "first").get_by_role("button", name="Reply").click()

    await expect(page).to_have_url(re.compile(r"/log-in\?next=%2Farticle%2F"))


async def test_absent_articles_and_comments_are_not_found(visit, site, faults):
    _, article = discussed(site)
    page = await visit()
    for path in ("/article/1", "/article/x", site.path(article, "comment:1")):
        answer = await page.goto(path)
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        assert answer.status == 404, path
    await page.goto(f"{site.path(article)}/edit/")  # is there: the server removes the slash at the end
    await expect(page.get_by_text("Only its poster may edit")).to_be_visible()
    faults.ignore("404")


def discussed(site: Site, *contents: str) -> tuple[Member, str]:
    """A member, and an article of another one with these comments of its poster."""
    poster = site.member("poster")
    article = site.post(poster, f"Discussed by {poster.username}")
    for content in contents:
        site.comment(poster, article, content)
    return site.member(), article


def fill(site: Site, by: Member, article: str, number: int) -> None:
    """Post so many comments, five in a request: `filler 0`, `filler 1` and so on."""
    for start in range(0, number, 5):
        inputs = [
            f'c{index}: comment(input: {{articleId: "{article}", content: "filler {index}"}})'
            for index in range(start, min(start + 5, number))
        ]
        site.ask(f"mutation {{ {' '.join(f'{each} {{ userErrors {{ code }} }}' for each in inputs)} }}", by)


def comment(page: Page, text: str) -> Locator:
    """The comment with exactly this text."""
    return page.get_by_role("article").filter(has=page.get_by_text(text, exact=True))


async def texts(page: Page) -> list[str]:
    """The texts of the comments that are shown."""
    return [text.strip() for text in await page.locator(".comment :is(.markdown, .absent:not(h3 *))").all_inner_texts()]
