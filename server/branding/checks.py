"""
Checks of the files by which operators make a site their own: text, SVG, PNG and `security.txt`. What is wrong is said
with its line, where a file has lines.
"""

import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.parsers import expat

from server.markdown_html import MAX_HTML

MAX_MARKDOWN = MAX_HTML // 2  # characters; the tags make the HTML longer than the Markdown
SVG = "http://www.w3.org/2000/svg"
RUNNING = {"script", "foreignobject", "iframe", "object", "embed"}  # elements that run or load what is not a drawing
PNG = b"\x89PNG\r\n\x1a\n"
CHUNK = struct.Struct(">I4s")  # begins a chunk of a PNG: the length of its data, and its type; a CRC of 4 bytes ends it
SIDE = range(16, 4_097)  # pixels
LENGTH = re.compile(r"\s*([0-9.]+)(px|mm|cm|in|pt|pc|em|ex)?\s*")  # of an SVG's `width` or `height`; not a percentage
DEFAULT_RATIO = 2.0  # of a replaced element without a size of its own, 300 x 150 pixels in CSS
MOST_RATIO = 100.0  # a wider drawing is cut by the header of the pages
FIELD = re.compile(r"([A-Za-z-]+):\s*(\S.*)")  # of security.txt
URI = re.compile(r"(?!http:)[a-z][a-z0-9+.-]*:\S+", re.IGNORECASE)  # RFC 9116: one of the web begins with https
URI_FIELDS = {"acknowledgments", "canonical", "contact", "encryption", "hiring", "policy"}
FIELDS_ONCE = {"expires", "preferred-languages"}
SIGNED, SIGNATURE = "-----BEGIN PGP SIGNED MESSAGE-----", "-----BEGIN PGP SIGNATURE-----"  # lines around its fields


class WrongFile(Exception):
    """A file is not as it should be. `line` is 0 where it has no lines; `others` are its further faults."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line
        self.others: Sequence[WrongFile] = ()


def refuse_if(faults: Sequence[WrongFile]) -> None:
    """
    Raises:
        WrongFile: the first of the faults by their lines, with the others. Without any nothing is raised.
    """
    if faults:
        first, *others = sorted(faults, key=lambda fault: fault.line)
        first.others = others
        raise first


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a picture in pixels."""

    width: int
    height: int


def text(body: bytes) -> str:
    """
    The text of a file, without a byte order mark.

    Raises:
        WrongFile: it is empty, or not UTF-8.
    """
    try:
        found = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongFile("it is not UTF-8", body.count(b"\n", 0, error.start) + 1) from None
    if not found.strip():
        raise WrongFile("it is empty")
    return found


def markdown(body: bytes) -> str:
    """
    Raises:
        WrongFile: it is no text, or too long to be rendered.
    """
    found = text(body)
    if len(found) > MAX_MARKDOWN:
        raise WrongFile(f"it has more than {MAX_MARKDOWN:,} characters")
    return found


@dataclass(frozen=True, slots=True)
class Ratio:
    """How wide a drawing is for its height, as browsers show it: 2 is twice as wide as high."""

    value: float

    def width(self, height: int) -> int:
        """How wide it is with this height, at least 1 pixel."""
        return max(1, round(self.value * height))


def svg(body: bytes) -> Ratio:
    """
    The ratio of a drawing's `width` and `height`, else of its `viewBox`. A drawing without both has `DEFAULT_RATIO`, as
    browsers show it.

    Raises:
        WrongFile: it is not well-formed, is no drawing, declares a document type, or has scripts.
    """
    names: list[str] = []
    root: dict[str, str] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        names.append(local)
        if len(names) == 1 and (namespace, local) != (SVG, "svg"):
            raise WrongFile(f'its root is not <svg xmlns="{SVG}">', parser.CurrentLineNumber)
        if len(names) == 1:
            root.update(attributes)
        if local.lower() in RUNNING or any(each.lower().startswith("on") for each in attributes):
            raise WrongFile(f"<{local}> would run a script or load a page", parser.CurrentLineNumber)

    def declared(*_: object) -> None:
        raise WrongFile("it declares a document type", parser.CurrentLineNumber)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, declared
    try:
        parser.Parse(body, True)  # it is all of the file
    except expat.ExpatError as error:
        raise WrongFile(f"it is not XML: {expat.errors.messages[error.code]}", error.lineno) from None
    return _ratio(root)


def _ratio(root: Mapping[str, str]) -> Ratio:
    """The ratio of a drawing by the attributes of its root: see `svg`."""
    width, height = (LENGTH.fullmatch(root.get(side, "")) for side in ("width", "height"))
    sides = [width[1], height[1]] if width and height and width[2] == height[2] else []
    box = root.get("viewBox", "").replace(",", " ").split()  # x, y, width, height
    for lengths in (sides, box[2:]):
        with suppress(ValueError):  # there are not two, or one is no number
            across, down = map(float, lengths)
            if across > 0 and down > 0:
                return Ratio(min(across / down, MOST_RATIO))
    return Ratio(DEFAULT_RATIO)


def png(body: bytes) -> Size:
    """
    Raises:
        WrongFile: it is no PNG, is damaged or cut off, or has a side that is too short or too long.
    """
    if not body.startswith(PNG) or body[12:16] != b"IHDR":  # the first chunk: it begins with width and height
        raise WrongFile("it is not a PNG")
    position, kind = len(PNG), b""
    while kind != b"IEND":
        length, kind = CHUNK.unpack(body[position : position + 8].ljust(8, b"\0"))
        end = position + 8 + length
        if end + 4 > len(body) or zlib.crc32(body[position + 4 : end]) != int.from_bytes(body[end : end + 4]):
            raise WrongFile("it is damaged or cut off")
        position = end + 4
    size = Size(*struct.unpack(">II", body[16:24]))
    if size.width not in SIDE or size.height not in SIDE:
        raise WrongFile(f"it has {size.width} x {size.height} pixels; a side has {SIDE[0]} to {SIDE[-1]:,}")
    return size


def security(body: bytes) -> None:
    """
    Check the fields of a `security.txt`, also of one that has an OpenPGP signature, which is not verified.

    Raises:
        WrongFile: a line is no field of RFC 9116, what has to be a URI is none, `Contact` or `Expires` is missing, a
            field that may be there once is there again, or it has expired.
    """
    fields: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text(body).splitlines(), 1):
        if line.rstrip() == SIGNATURE:
            break
        if not line.strip() or line.startswith("#") or line.rstrip() == SIGNED:
            continue
        field = FIELD.fullmatch(line.rstrip())
        if field is None:
            raise WrongFile("it is not like `Contact: mailto:security@example.com`", number)
        name = field[1].lower()
        if name in URI_FIELDS and not URI.fullmatch(field[2]):
            raise WrongFile(f"{field[1]} is not a URI like https://example.com/ or mailto:security@example.com", number)
        if name in FIELDS_ONCE and name in fields:
            raise WrongFile(f"{field[1]} is there already, on line {fields[name][1]}", number)
        fields[name] = field[2], number
    if missing := [name for name in ("Contact", "Expires") if name.lower() not in fields]:
        raise WrongFile(f"it has no {missing[0]}")
    instant, number = fields["expires"]
    try:
        is_over = datetime.fromisoformat(instant) < datetime.now(UTC)
    except (TypeError, ValueError):
        raise WrongFile("Expires is not like 2030-01-01T00:00:00Z", number) from None
    if is_over:
        raise WrongFile(f"it has expired at {instant}", number)
