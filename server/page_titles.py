"""The titles of pages of other sites: the field `linkTitle` of the schema suggests one to who posts a link."""

import re
from html import unescape

from server.guarded_client import Answer, GuardedClient, NoAnswer

TIME_LIMIT = 5.0  # seconds
MAX_PAGE = 512_000  # bytes that are read of a page
HTML = frozenset({"text/html", "application/xhtml+xml"})
CHARSET = re.compile(
    r"""charset=["']?(utf-?(?:8|16)|iso-8859-\d+|windows-\d+|koi8-[ru]|gbk|gb2312|gb18030|big5|shift_jis|euc-(?:jp|kr))""",
    re.IGNORECASE,
)
CHARSET_BYTES = 1024  # of a page that may name its encoding
# Bounded, so that a page of half tags takes no longer than others.
TITLE = re.compile(r"<title(?:\s[^>]{0,500})?>([^<]{0,2000})", re.IGNORECASE)
META = re.compile(r"<meta\s", re.IGNORECASE)
MAX_META = 3_000  # characters within a `meta` tag
# within a `meta` tag: that it has the Open Graph title, and the title
NAMED = re.compile(r"""property\s{0,9}=\s{0,9}["']?og:title["'\s]""", re.IGNORECASE)
CONTENT = re.compile(r"""content\s{0,9}=\s{0,9}(?:"([^"]{0,2000})"|'([^']{0,2000})')""", re.IGNORECASE)


class PageTitles:
    """Reads the titles of pages on the public internet."""

    async def title(self, link: str) -> str | None:
        """
        The title of the HTML page behind a link, on one line; None if there is none, or it cannot be read in time.
        """
        client = GuardedClient()
        try:
            answer = await client.send(
                "GET",
                link,
                headers={"accept": ", ".join(sorted(HTML))},
                follows=True,
                seconds=TIME_LIMIT,
                max_answer=MAX_PAGE,
                cuts=True,
            )
        except NoAnswer:
            return None
        finally:
            await client.close()
        return title_of(answer)


def title_of(answer: Answer) -> str | None:
    """The `title` of a page, or else its `og:title`."""
    kind = answer.headers.get("content-type", "")
    if answer.status != 200 or kind.partition(";")[0].strip().lower() not in HTML:
        return None
    text = _without_comments(_decoded(answer.body, kind))
    found = TITLE.search(text)
    return _on_one_line(found[1] if found else "") or _on_one_line(_open_graph_title(text))


def _decoded(body: bytes, kind: str) -> str:
    """A page as text, by the encoding that its headers or its first bytes name; UTF-8 otherwise."""
    found = CHARSET.search(kind) or CHARSET.search(body[:CHARSET_BYTES].decode("ascii", "replace"))
    try:
        return body.decode(found[1] if found else "utf-8", "replace")
    except LookupError:  # a number that no encoding has
        return body.decode("utf-8", "replace")


def _without_comments(text: str) -> str:
    first, *rest = text.split("<!--")
    return first + "".join(each.partition("-->")[2] for each in rest)


def _open_graph_title(text: str) -> str:
    for meta in META.finditer(text):
        end = max(text.find(">", meta.end(), meta.end() + MAX_META), meta.end())  # an empty tag if there is no `>`
        if NAMED.search(text, meta.end(), end) and (content := CONTENT.search(text, meta.end(), end)):
            return content[1] or content[2] or ""
    return ""


def _on_one_line(text: str) -> str | None:
    return " ".join(unescape(text).split()) or None
