"""The program that sends a request, by its header User-Agent: a family and a system, such as `Firefox on Linux`."""

import re

from starlette.types import Scope

from engine.clients import headers_of

MAX_READ = 500  # characters of a header
FAMILIES = (  # the first that is found counts: most browsers say that they are several of them
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"\b(?:OPR|Opera)/")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/")),
    ("Chrome", re.compile(r"\b(?:Headless)?(?:Chrome|Chromium|CriOS)/")),
    ("Safari", re.compile(r"\bVersion/[0-9.]+ .*\bSafari/")),
)
SYSTEMS = (
    ("iOS", re.compile(r"\b(?:iPhone|iPad|iPod)\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("macOS", re.compile(r"\b(?:Macintosh|Mac OS X|Darwin)\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)
# what another program calls itself at the beginning of the header, such as `curl/8.5.0`
PRODUCT = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,39})(?:/|\s|$)")


def agent_of(scope: Scope) -> str:
    """The browser and system that send a request, or the name of another program; "" if the header does not say."""
    return described(headers_of(scope).get(b"user-agent", b"").decode("latin-1")[:MAX_READ])


def described(user_agent: str) -> str:
    """As `agent_of`, by the text of the header User-Agent."""
    product = PRODUCT.match(user_agent)
    family = next((name for name, pattern in FAMILIES if pattern.search(user_agent)), None)
    if family is None and product and product[1] != "Mozilla":
        family = product[1]
    system = next((name for name, pattern in SYSTEMS if pattern.search(user_agent)), None)
    return " on ".join(part for part in (family, system) if part)
