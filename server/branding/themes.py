"""
Themes: stylesheets of operators that set the CSS variables of the site's pages (colours, fonts, sizes), and nothing
else. So a theme fits the pages of later versions, and all that may be wrong with it is found at the start.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from server.branding.checks import WrongFile, refuse_if, text

THEMES = Path(__file__).with_name("static") / "themes"
COLOURS = {  # the variables, and what pages use them for
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
END_OF_DECLARATION = re.compile(r"[^;}]*;?")
END_OF_RULE = re.compile(r"[^}]*\}?")

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
    faults: list[WrongFile] = []
    values = dict(_declarations(_without_comments(text(body)), faults))
    refuse_if(faults)
    colours, others = (
        "".join(f"--{name}:{value};" for name, value in values.items() if (name in COLOURS) == is_colour)
        for is_colour in (True, False)
    )
    return f"@media screen{{:root:root{{{colours}}}}}:root:root{{{others}}}".encode()


def _without_comments(css: str) -> str:
    """The text with spaces in place of comments, so that positions and lines stay."""
    return COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), css)


def _declarations(css: str, faults: list[WrongFile]) -> Iterator[tuple[str, str]]:
    """The names and the values of all declarations. What is wrong is added to the faults, and passed over."""
    position, end = 0, len(css.rstrip())
    while position < end:
        opened = OPEN.match(css, position)
        if opened is None:
            missing = "`:root {` is missing: a theme has variables of :root only"
            faults.append(WrongFile(missing, _line(css, position)))
            position = _end_of(END_OF_RULE, css, position)
            continue
        position = opened.end()
        while not (closed := CLOSE.match(css, position)):
            found = DECLARATION.match(css, position)
            if found:
                faults += _faults_of(found["name"], found["value"], _line(css, found.start("name")))
                yield found["name"], found["value"]
            else:
                faults.append(WrongFile("it is not like `--accent: #b4390b;`", _line(css, position)))
            position = found.end() if found else _end_of(END_OF_DECLARATION, css, position)
            if position >= end:
                faults.append(WrongFile("`}` is missing", _line(css, position)))
                break
        position = closed.end() if closed else end


def _end_of(pattern: re.Pattern[str], css: str, position: int) -> int:
    found = pattern.match(css, position)
    return found.end() if found else len(css)


def _faults_of(name: str, value: str, line: int) -> list[WrongFile]:
    """What is wrong with a declaration, if anything is."""
    for variables, pattern, expected in KINDS:
        if name in variables:
            return [] if pattern.fullmatch(value) else [WrongFile(f"--{name} is not {expected}", line)]
    return [WrongFile(f"there is no variable --{name}", line)]


def _line(css: str, position: int) -> int:
    """The line of the first character after a position that is no space."""
    space = SPACE.match(css, position)
    end = space.end() if space else position
    return css.count("\n", 0, min(end, len(css.rstrip()))) + 1
