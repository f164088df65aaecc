"""
Titles, names and texts of people are shown as text: nothing in them runs, loads or breaks the page.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.
"""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened

# Marks that are drawn above and below a letter.
MARKS = "\u0338\u0322\u031b\u0317"
TITLES = [
    "<img src=x onerror='window.harmed=1'>",
    "<script>window.harmed=1</script>",
    "</title><script>window.harmed=1</script>",
    "\"><svg onload=window.harmed=1>' onmouseover=window.harmed=1 x='",
    "&lt;b&gt; &amp;amp; &#60;i&#62;",
    "$title ${title} {{title}} {% raw %} %s {0}",
    "[a link](javascript:window.harmed=1) **not bold** `not code`",
    "javascript:window.harmed=1//https://example.com/",
    "Zero\u200bwidth\u200cjoined\u200dwords\u2060 end",
    "עברית عربى and Latin (brackets) 123",
    "".join(f"{letter}{8 * MARKS}" for letter in "Zalgo"),
    "W" * 300,
    "ﷺ" * 100,
]
TEXT = """
<script>window.harmed=1</script>
<img src=x onerror="window.harmed=1">
<img src="http://elsewhere.example/pixel.gif">
<iframe src="http://elsewhere.example/"></iframe>
<style>body { display: none }</style>
<form action="http://elsewhere.example/"><input name="password"><button>Log in</button></form>
<a href="javascript:window.harmed=1" onclick="window.harmed=1">raw link</a>
<base href="http://elsewhere.example/">
<meta http-equiv="refresh" content="0;url=http://elsewhere.example/">
<div id="root" class="status problem" style="position:fixed;inset:0">over everything</div>
<svg><animate onbegin="window.harmed=1" attributeName="x" dur="1s"/></svg>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=window.harmed=1&gt;">

[script link](javascript:window.harmed=1) [data link](data:text/html,<script>window.harmed=1</script>)
[spaced link]( java\tscript:window.harmed=1 ) [entity link](&#106;avascript:window.harmed=1)
[vb link](vbscript:window.harmed=1) <javascript:window.harmed=1>
![image](http://elsewhere.example/pixel.gif) ![x"onerror="window.harmed=1](x)
[quoted](https://example.com/" onmouseover="window.harmed=1)
[reference]: javascript:window.harmed=1

# A heading of a comment

Turned \u202earound\u202c and \u2066isolated\u2069.

"""
LONG = f"""{"W" * 3000}

`{"c" * 500}`

```
{"p" * 500}
```

| {" | ".join("column" * 3 for _ in range(12))} |
|{"---|" * 12}

{"> " * 40}deep quotation

{"".join("  " * depth + "- item" + chr(10) for depth in range(40))}
<https://example.com/{"l" * 500}>
"""
POSTED = "query($name: String!) { user(username: $name) { articles(first: 50) { nodes { id } } } }"
DELETE = "mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { userErrors { message } } }"
# What of a text has become more than text: a line each. No line is no harm.
HARM = """() => {
  const inside = [...document.querySelectorAll('main *')];
  const found = {
    ran: window.harmed ? ['a script'] : [],
    elements: inside.map(({ localName }) => localName).filter((name) =>
      /^(script|img|iframe|object|embed|style|base|meta|link|math|animate|video|audio)$/.test(name)),
    attributes: inside.flatMap(({ attributes }) => [...attributes]).map(({ name, value }) => `${name}=${value}`)
      .filter((attribute) => /^(on|style=(?!--level: \\d+;$)|action=|src)/.test(attribute)),
    links: [...document.links].map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
    roots: [...document.querySelectorAll('#root')].slice(1).map(({ outerHTML }) => outerHTML),
    tooWide: document.documentElement.scrollWidth <= innerWidth ? [] :
      inside.filter((each) => each.getBoundingClientRect().right > innerWidth).map(({ outerHTML }) => outerHTML),
  };
  return Object.entries(found).flatMap(([kind, each]) => each.map((one) => `${kind}: ${one.slice(0, 200)}`));
}"""


@pytest.fixture(scope="module")
def hostile(site):
    """
    A member whose articles have hostile titles, and the id of one that has hostile texts and comments. They are deleted
    at the end: axe takes the lines of a title that a phone does not show for ones that cover what is below them.
    """
    member, other = site.member("x" * 14), site.member("y" * 14)
    for title in TITLES:
        site.post(member, title, groups=["g" * 50])
    article = site.post(member, TITLES[0], content=TEXT + LONG, groups=[f"{'w' * 45}{n}" for n in range(10)])
    parent = None
    for text in (TEXT, LONG, *TITLES, f"@{member.username} {TITLES[0]}"):
        parent = site.comment(other, article, text, parent)
    yield member, article
    for each in site.ask(POSTED, name=member.username)["user"]["articles"]["nodes"]:
        site.ask(DELETE, member, id=each["id"])


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "desktop"])
async def test_titles_are_shown_as_text(visit, hostile, viewport):
    member, _ = hostile
    for path in (f"/user/{member.username}", f"/group/{'g' * 50}?order=TIME", "/feed", "/?order=TIME"):
        page = await visit(member, viewport=viewport)
        await opened(page, path)

        shown = await page.locator("main li a").evaluate_all("links => links.map((link) => link.textContent)")
        assert set(TITLES) <= set(shown), path
        assert await page.evaluate(HARM) == [], path


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "desktop"])
async def test_texts_run_and_load_nothing(visit, site, hostile, viewport):
    member, article = hostile
    page = await visit(member, viewport=viewport)

    await opened(page, site.path(article))
    await expect(page.get_by_text("deep quotation").last).to_be_attached()

    assert await page.locator("h1").text_content() == TITLES[0]
    assert await page.title() == f"{TITLES[0]} · Upvote"
    assert await page.evaluate(HARM) == []


@pytest.mark.parametrize(
    "path", ["/inbox", "/search?q=harmed", "/groups", "/search?q=%3Cimg+src%3Dx+onerror%3Dharmed%3E"]
)
async def test_other_pages_are_not_harmed(visit, hostile, path):
    member, _ = hostile
    page = await visit(member, viewport=PHONE)

    await opened(page, path)

    assert await page.evaluate(HARM) == []


async def test_titles_in_the_html_of_the_server_are_text(visit, site, hostile, faults):
    member, _ = hostile
    page = await visit(java_script_enabled=False)
    for title in TITLES:
        article = site.post(member, f"{title[:290]} again")

        await page.goto(site.path(article))

        assert await page.title() == f"{title[:290]} again · Upvote"
        assert await page.locator("main noscript").text_content() is not None
        drawn = page.locator("main svg:not(button > svg), main img, main script, iframe")
        assert await drawn.count() == 0
        assert await page.locator("script:not([src])").evaluate_all("all => all.map(each => each.type)") == [
            "application/ld+json"
        ]
    faults.ignore(r"\.js csp")  # scripts are off
