"""
The folder of the site (`UPVOTE_SITE_DIR`): what it may have, and what was read of it. A broken file is reported, and
replaced by its default; a file that nothing uses is reported, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from server.branding import checks, themes
from server.branding.checks import Ratio, Size, WrongFile
from server.markdown_html import page_to_html, text_of
from server.words.checks import own_entries
from server.words.files import Entries

DEFAULTS = Path(__file__).with_name("static")
PAGES = ("about", "rules", "privacy", "legal")
KB = 1_000  # bytes
SIZES = {  # the files that the folder may have, and how many bytes each may have
    "theme.css": 50 * KB,
    "logo.svg": 100 * KB,
    "favicon.png": 200 * KB,
    "card.png": 1_000 * KB,
    "security.txt": 10 * KB,
    **{f"{name}.md": 200 * KB for name in PAGES},
}
MOST_FAULTS = 10  # of a file, that are reported
FTL_SIZE = 200 * KB  # at most, of `words.ftl` and of each `LANGUAGE.ftl`
MEDIA_TYPES = {".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png"}
TEXT_LENGTH = 200  # characters of the title and of the `sentence` of a page
LOGO_HEIGHT = 20  # pixels, as `styles.css` has it
FTL = re.compile(r"[A-Za-z]{2,5}(-[A-Za-z0-9]+)*\.ftl")
HEADING = re.compile(r"\s*<h1[^>]*>(.*?)</h1>\s*", re.DOTALL)
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)


@dataclass(frozen=True)
class Asset:
    """
    A file that browsers load. Its path has a digest of the content, so a changed file has another one. A PNG has a
    `size`, the logo of the site a `ratio`.
    """

    name: str
    body: bytes
    size: Size | None = None
    ratio: Ratio | None = None

    @cached_property
    def path(self) -> str:
        file = Path(self.name)
        return f"site/{file.stem}-{sha256(self.body).hexdigest()[:10]}{file.suffix}"

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[Path(self.name).suffix]


@dataclass(frozen=True)
class TextPage:
    """A page from Markdown. Its title is its first heading, "" without one; `html` is the rest."""

    name: str
    title: str
    html: str

    @cached_property
    def sentence(self) -> str:
        """Its first paragraph as plain text, cut at a word."""
        first = PARAGRAPH.search(self.html)
        return text_of(first[1], TEXT_LENGTH) if first else ""


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """
    The site's own files for its pages, or the default where a file is missing. `has_logo`: the logo is its own. `words`
    are texts by the names of their files. `faults` are lines for the operator.
    """

    logo: Asset
    icon: Asset
    card: Asset
    theme: Asset | None = None
    has_logo: bool = False
    pages: Mapping[str, TextPage] = field(default_factory=dict)
    security: bytes | None = None
    words: Mapping[str, Entries] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def links(self) -> list[str]:
        """The paths of the pages that are there, in the order of the footer."""
        return [name for name in PAGES if name in self.pages]

    @property
    def logo_width(self) -> int | None:
        """The pixels of the logo's width beside the name of the site, before it is loaded; None for the default."""
        return self.logo.ratio.width(LOGO_HEIGHT) if self.logo.ratio else None

    @property
    def welcome(self) -> str:
        """The sentence of the site on its front page: the first paragraph of `about.md`; "" without one."""
        return self.pages["about"].sentence if "about" in self.pages else ""

    @property
    def assets(self) -> list[Asset]:
        return [each for each in (self.theme, self.logo, self.icon, self.card) if each]


def read(folder: Path) -> SiteFiles:
    """
    Read the files of a folder, which need not be there.

    Raises:
        OSError: the folder is there, and cannot be read.
    """
    bodies, faults = _bodies(folder)
    found: dict[str, Any] = {}
    for name, body in bodies.items():
        try:
            if len(body) > most_bytes(name):
                raise WrongFile(f"it has more than {most_bytes(name):,} bytes")
            if name.endswith(".ftl"):
                found[name], wrong = own_entries(name, body)
                faults += _lines(folder / name, wrong, "the rest of the file is used")
            else:
                found[name] = _checked(name, body)
        except WrongFile as fault:
            faults += _lines(folder / name, [fault, *fault.others], _instead(name))
    logo = found.get("logo.svg") or Asset("logo.svg", (DEFAULTS / "logo.svg").read_bytes())
    card = (DEFAULTS / "card.png").read_bytes()
    return SiteFiles(
        logo,
        icon=found.get("favicon.png") or logo,
        card=found.get("card.png") or Asset("card.png", card, checks.png(card)),
        theme=found.get("theme.css"),
        has_logo="logo.svg" in found,
        pages={name: found[f"{name}.md"] for name in PAGES if f"{name}.md" in found},
        security=found.get("security.txt"),
        words={name: texts for name, texts in found.items() if name.endswith(".ftl") and texts},
        faults=tuple(faults),
    )


def bodies_of(folder: Path) -> dict[str, bytes]:
    """What a backup has of a folder: its files as they are, without unused and too large ones."""
    return {name: body for name, body in _bodies(folder)[0].items() if len(body) <= most_bytes(name)}


def most_bytes(name: str) -> int:
    """The largest size of a file with this name, in bytes; 0 if a site has no such file."""
    return FTL_SIZE if FTL.fullmatch(name) else SIZES.get(name, 0)


def _bodies(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The first bytes of each file, enough to see that it is too large, and faults."""
    bodies, faults = {}, []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith(".") or path.is_dir():
            continue
        if not most_bytes(path.name):
            names = [*SIZES, "words.ftl", "LANGUAGE.ftl"]
            faults.append(f"{path}: nothing uses it; the files of a site are {', '.join(names)}")
            continue
        try:
            with path.open("rb") as file:
                bodies[path.name] = file.read(most_bytes(path.name) + 1)
        except OSError as error:
            faults.append(f"{path}: {error.strerror}; {_instead(path.name)}")
    return bodies, faults


def _checked(name: str, body: bytes) -> Any:
    """
    What `SiteFiles` has of a file that has no texts of pages: a page, an asset, or the bytes of `security.txt`.

    Raises:
        WrongFile: the file is not as it should be.
    """
    if name.endswith(".md"):
        return _page(name.removesuffix(".md"), checks.markdown(body))
    if name.endswith(".png"):
        return Asset(name, body, checks.png(body))
    if name == "logo.svg":
        return Asset(name, body, ratio=checks.svg(body))
    if name == "theme.css":
        return Asset(name, themes.stylesheet(body))
    checks.security(body)
    return body


def _page(name: str, markdown: str) -> TextPage:
    html = page_to_html(markdown, name)
    heading = HEADING.match(html)
    title = text_of(heading[1], TEXT_LENGTH) if heading else ""
    if heading is None or not title:
        return TextPage(name, title="", html=html)
    return TextPage(name, title, html[heading.end() :])


def _lines(path: Path, faults: Sequence[WrongFile], instead: str) -> Iterator[str]:
    """A line for each of the first faults of a file, and one for the number of the others."""
    for fault in faults[:MOST_FAULTS]:
        place = f"{path}:{fault.line}" if fault.line else str(path)
        yield f"{place}: {fault.reason}; {instead}"
    if more := len(faults[MOST_FAULTS:]):
        yield f"{path}: and {more:,} more"


def _instead(name: str) -> str:
    """What the site has in place of a broken file."""
    if name.endswith(".ftl"):
        return "the texts that come along stand in"
    return "the page is left out" if name.endswith((".md", ".txt")) else "the default stands in"
