"""
Themes: files with values for the variables of the pages, and nothing else. So a theme fits the pages of later versions,
and all that may be wrong with it is found at the start.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from server.branding.checks import WrongFile, text

THEMES = Path(__file__).with_name("static") / "themes"
COLOURS = {
    "paper": "background of pages",
    "raised": "background of fields, buttons and menus",
    "ink": "text",
    "quiet": "details, such as names and ages",
    "line": "lines between rows and around boxes",
    "accent": "votes up, the current page, buttons that send, focus",
    "accent-soft": "background of groups and of what is marked",
    "down": "votes down",
    "problem": "text of what went wrong",
    "problem-soft": "its background",
}
FONTS = {"serif": "titles", "sans": "everything else", "mono": "code"}
SIZES = {"measure": "width of pages", "radius": "radius of corners"}
VARIABLES = COLOURS | FONTS | SIZES

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OPEN = re.compile(r"\s*:root\s*\{")
CLOSE = re.compile(r"\s*\}")
DECLARATION = re.compile(r"\s*(?P<declared>--(?P<name>[\w-]+)\s*:\s*(?P<value>[^;{}]*?)\s*)(?:;|(?=\}))")
SPACE = re.compile(r"\s*")

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:%|deg|rad|turn)?"
FUNCTION = rf"(?:rgb|hsl|hwb|lab|lch|oklab|oklch)\(\s*{NUMBER}(?:[\s,/]+{NUMBER}){{2,3}}\s*\)"
COLOUR = rf"(?:#(?:[0-9a-f]{{3,4}}|[0-9a-f]{{6}}|[0-9a-f]{{8}})|black|white|{FUNCTION})"
IS_COLOUR = re.compile(rf"{COLOUR}|light-dark\(\s*{COLOUR}\s*,\s*{COLOUR}\s*\)", re.IGNORECASE)
FAMILY = r"""(?:"[^"\\\n<]+"|'[^'\\\n<]+'|-?[a-z][\w-]*(?:\s+[a-z][\w-]*)*)"""
IS_FONTS = re.compile(rf"{FAMILY}(?:\s*,\s*{FAMILY})*", re.IGNORECASE)
IS_SIZE = re.compile(r"0|(?:\d+\.?\d*|\.\d+)(?:rem|em|ch|px)")
KINDS = [
    (COLOURS, IS_COLOUR, "a colour, such as #b4390b, oklch(60% 0.2 40) or light-dark(#fff, #111)"),
    (FONTS, IS_FONTS, 'a list of fonts, such as "Gill Sans", sans-serif'),
    (SIZES, IS_SIZE, "a size in rem, em, ch or px, such as 48rem"),
]


def names() -> list[str]:
    """The names of the built-in themes."""
    return sorted(path.stem for path in THEMES.glob("*.css"))


def stylesheet(body: bytes) -> bytes:
    """
    The stylesheet of a theme: its colours for screens only, as printed pages keep their own, and the rest for both.

    `:root:root` takes precedence over the variables of the pages, wherever their stylesheet is linked.

    Raises:
        WrongFile: the file has something else than known variables with valid values.
    """
    values = dict(_declarations(_without_comments(text(body))))
    colours, others = (
        "".join(f"--{name}:{value};" for name, value in values.items() if (name in COLOURS) == is_colour)
        for is_colour in (True, False)
    )
    return f"@media screen{{:root:root{{{colours}}}}}:root:root{{{others}}}".encode()


def _without_comments(css: str) -> str:
    """The text with spaces in place of comments, so that positions and lines stay."""
    return COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), css)


def _declarations(css: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(css.rstrip()):
        position = _after(OPEN, css, position, "`:root {` is missing: a theme has variables of :root only")
        while not CLOSE.match(css, position):
            found = DECLARATION.match(css, position)
            if found is None:
                raise WrongFile("it is not like `--accent: #b4390b;`", _line(css, position))
            _check(found["name"], found["value"], _line(css, found.start("name")))
            yield found["name"], found["value"]
            position = found.end()
        position = _after(CLOSE, css, position, "`}` is missing")


def _after(pattern: re.Pattern[str], css: str, position: int, fault: str) -> int:
    found = pattern.match(css, position)
    if found is None:
        raise WrongFile(fault, _line(css, position))
    return found.end()


def _check(name: str, value: str, line: int) -> None:
    for variables, pattern, expected in KINDS:
        if name in variables:
            if not pattern.fullmatch(value):
                raise WrongFile(f"--{name} is not {expected}", line)
            return
    raise WrongFile(f"there is no variable --{name}", line)


def _line(css: str, position: int) -> int:
    """The line of the first character after a position that is no space."""
    space = SPACE.match(css, position)
    end = space.end() if space else position
    return css.count("\n", 0, min(end, len(css.rstrip()))) + 1
