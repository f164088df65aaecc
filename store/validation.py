"""Rules for what may be written. Each function returns the value as it is stored, or raises Invalid."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Self

from ada_url import URL

from store.errors import Invalid, Refusal

# characters, at most
TITLE_LENGTH = 300
LINK_LENGTH = 2_000
CONTENT_LENGTH = 40_000
COMMENT_LENGTH = 10_000
REASON_LENGTH = 1_000
NOTE_LENGTH = 5_000
APPEAL_LENGTH = 5_000
DISPLAY_NAME_LENGTH = 50
ABOUT_LENGTH = 1_000
IDEMPOTENCY_KEY_LENGTH = 200
EMAIL_LENGTH = 254  # what a path of RFC 5321 has room for
MAILBOX_LENGTH = 64  # of an address, before its @
GROUP_LENGTH = 50
GROUP_TITLE_LENGTH = 100
GROUP_ABOUT_LENGTH = 5_000
PASSWORD_LENGTHS = range(8, 129)
MAX_LISTED = 10  # invalid names of groups in one refusal
MAX_SHOWN = 60  # characters of an invalid name in a message

USERNAME = re.compile(r"[A-Za-z0-9_-]{2,20}")
GROUP = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{GROUP_LENGTH - 1}}}")
EMAIL = re.compile(  # dot-atom of RFC 5322 in ASCII, and a domain of at least two labels
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
)
WHITESPACE = {"\n", "\r", "\t"}
UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}  # control characters, lone surrogates, line and paragraph separators
# Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which unicodedata lacks
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
BLANK = re.compile(rf"[\s\u2800{IGNORABLE}]*")  # U+2800 is a Braille cell without dots
# No title or link begins or ends with white space, or with what has neither width nor meaning there. Joiners, marks of
# direction and variation selectors stay: they are parts of emojis and of words. The last white space is U+3000.
TRIMMED = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u00ad\u180e\u200b\u2060\ufeff"
BIDI_CONTROL = re.compile("[\u202a-\u202e\u2066-\u2069]")  # embeddings, overrides and isolates


class Faults:
    """
    Collects what is wrong with an input, so that its refusal lists all faults.

    Each `with` block checks one value and may end with Invalid. After the last, `raise_any` raises the first fault,
    which has the others.
    """

    def __init__(self) -> None:
        self._found: list[Refusal] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Invalid):
            return False
        self._found += [error, *error.others]
        return True

    def __len__(self) -> int:
        return len(self._found)

    def raise_any(self) -> None:
        if self._found:
            first = self._found[0]
            first.others = self._found[1:]
            raise first


def title(text: str, most: int = TITLE_LENGTH) -> str:
    return _line(text, most, field="title", named="title")


def display_name(text: str) -> str:
    """The name of a user as people read it."""
    return _line(text, DISPLAY_NAME_LENGTH, field="displayName", named="display name")


def _line(text: str, most: int, field: str, named: str) -> str:
    text = text.strip()
    text = text and _visible(text, field).strip(TRIMMED)
    if not 1 <= len(text) <= most:
        raise Invalid(f"a {named} has 1 to {most} characters, this one {len(text)}", field)
    if found := BIDI_CONTROL.search(text):
        code = f"U+{ord(found[0]):04X}"
        raise Invalid(f"a {named} does not change the direction of text: {code} at place {found.start() + 1}", field)
    return _printable(text, field)


def link(text: str) -> str:
    return _url(text, "link")


def avatar_url(text: str) -> str:
    return _url(text, "avatarUrl")


def _url(text: str, field: str) -> str:
    """An absolute http or https URL, checked by a WHATWG parser and stored as written."""
    text = text.strip(TRIMMED)
    if len(text) > LINK_LENGTH:
        raise Invalid(f"a link has at most {LINK_LENGTH} characters, this one {len(text)}", field)
    if any(unicodedata.category(character) == "Cf" for character in text):
        raise Invalid("a link has no invisible characters", field)
    if re.search(r"[\s\\]", _printable(text, field)) or not re.match(r"https?://[^/]", text, re.IGNORECASE):
        raise Invalid("a link is an absolute http or https URL", field)
    try:
        URL(text)
    except ValueError as error:
        raise Invalid("a link is an absolute http or https URL", field) from error
    if re.match(r"https?://[^/?#]*@", text, re.IGNORECASE):
        raise Invalid("a link has no username and no password", field)
    return text


def content(text: str) -> str:
    if len(text) > CONTENT_LENGTH:
        raise Invalid(f"content has at most {CONTENT_LENGTH} characters, this one {len(text)}", "content")
    return _visible(_printable(text, "content", allowed=WHITESPACE | {"\u2028", "\u2029"}), "content")


def comment(text: str) -> str:
    if not 1 <= len(text) <= COMMENT_LENGTH:
        raise Invalid(f"a comment has 1 to {COMMENT_LENGTH} characters, this one {len(text)}", "content")
    return content(text)


def reason(text: str) -> str:
    """The reason of a moderator, which everybody reads."""
    text = text.strip()
    if not 1 <= len(text) <= REASON_LENGTH:
        raise Invalid(f"a reason has 1 to {REASON_LENGTH:,} characters, this one {len(text):,}", "reason")
    return _visible(_printable(text, "reason", allowed=WHITESPACE), "reason")


def appeal(text: str) -> str:
    """What somebody says against an action of a moderator."""
    text = text.strip()
    if not 1 <= len(text) <= APPEAL_LENGTH:
        raise Invalid(f"an appeal has 1 to {APPEAL_LENGTH:,} characters, this one {len(text):,}", "text")
    return _visible(_printable(text, "text", allowed=WHITESPACE), "text")


def note(text: str | None) -> str:
    """The note of a moderator for other moderators; "" without one."""
    text = (text or "").strip()
    if len(text) > NOTE_LENGTH:
        raise Invalid(f"a note has at most {NOTE_LENGTH:,} characters, this one {len(text):,}", "note")
    return _printable(text, "note", allowed=WHITESPACE)


def link_or_content(link: str, content: str) -> None:
    if not link and not content:
        raise Invalid("an article has a link, content or both", "link")


def groups(names: Iterable[str], field: str) -> list[str]:
    """Group names in the order given, without duplicates. A refusal lists the first `MAX_LISTED` invalid ones."""
    faults, valid = Faults(), []
    for name in dict.fromkeys(names):
        with faults:
            valid.append(group(name, field))
        if len(faults) == MAX_LISTED:
            break
    faults.raise_any()
    return list(dict.fromkeys(valid))


def group_title(text: str) -> str:
    return title(text, GROUP_TITLE_LENGTH)


def group_about(text: str) -> str:
    return _about(text, GROUP_ABOUT_LENGTH, "a text about a group")


def about(text: str) -> str:
    """What a user writes about themselves."""
    return _about(text, ABOUT_LENGTH, "a text about you")


def _about(text: str, most: int, named: str) -> str:
    if len(text) > most:
        raise Invalid(f"{named} has at most {most} characters, this one {len(text)}", "about")
    return _visible(_printable(text, "about", allowed=WHITESPACE | {"\u2028", "\u2029"}), "about")


def group(name: str, field: str) -> str:
    if not GROUP.fullmatch(name):
        rule = "a group's name is 1 to 50 of a-z, 0-9, _ and -, the first a letter or digit"
        raise Invalid(f"{rule}, not {name[:MAX_SHOWN]!r}", field)
    return name.lower()


def username(text: str) -> str:
    if not USERNAME.fullmatch(text):
        raise Invalid("a username is 2 to 20 of A-Z, a-z, 0-9, _ and -", "username")
    return text


def email(text: str) -> str:
    """An address as it is stored, its domain in lower case. A domain beyond ASCII has to be in the form of `xn--`."""
    mailbox, _, domain = text.rpartition("@")
    if len(text) > EMAIL_LENGTH or len(mailbox) > MAILBOX_LENGTH or not EMAIL.fullmatch(text):
        raise Invalid(
            f"an address looks like name@example.com, in ASCII, of at most {EMAIL_LENGTH} characters", "email"
        )
    return f"{mailbox}@{domain.lower()}"


def password(text: str, field: str = "password") -> str:
    if len(text) not in PASSWORD_LENGTHS:
        raise Invalid("a password has 8 to 128 characters", field)
    if any(unicodedata.category(character) == "Cs" for character in text):
        raise Invalid("a password is Unicode text", field)
    return text


def check_idempotency_key(key: str | None) -> None:
    if key is None:
        return
    if not 1 <= len(key) <= IDEMPOTENCY_KEY_LENGTH:
        raise Invalid(f"an idempotency key has 1 to {IDEMPOTENCY_KEY_LENGTH} characters", "idempotencyKey")
    _printable(key, "idempotencyKey")


def _printable(text: str, field: str, allowed: set[str] | frozenset[str] = frozenset()) -> str:
    for place, character in enumerate(text):
        if unicodedata.category(character) in UNPRINTABLE and character not in allowed:
            raise Invalid(f"{field} has a character that is not allowed at place {place + 1}", field)
    return text


def _visible(text: str, field: str) -> str:
    if BLANK.fullmatch(text):
        raise Invalid(f"{field} has only blanks and invisible characters", field)
    return text
