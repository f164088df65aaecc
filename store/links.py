"""
The index of articles by link, and how links are compared: two are the same if their canonical forms are equal.

The canonical form is that of a WHATWG parser, so that the case of scheme and host, a default port, dot segments and
percent-encoding do not matter. It has no fragment, no dot at the end of the host and no tracking parameters; the other
parameters keep their order. `http` and `https`, hosts with and without `www.`, and paths with and without a slash at
the end are different, as sites may answer differently.
"""

from hashlib import sha256
from urllib.parse import unquote_plus

from ada_url import URL

from store.kinds import Backup, Check, Kind, Text

VERSION = 1  # of the canonical form: an index of another version has to be rebuilt
FIELD = "link_digest"  # of an article's hash
DIGEST_LENGTH = 32  # characters, which are 128 bits
TRACKING_PREFIXES = ("utm_", "mtm_", "matomo_")
TRACKING = frozenset(
    {
        "_ga", "_gl", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",
        "dclid", "fbclid", "gad_source", "gbraid", "gclid", "gclsrc", "wbraid",
        "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "msclkid",
        "oly_anon_id", "oly_enc_id", "rb_clickid", "s_cid", "srsltid", "ttclid", "twclid",
        "vero_conv", "vero_id", "wickedid", "yclid", "ysclid",
    }
)  # fmt: skip


LINK_DIGEST = Text("DIGEST", "[0-9a-f]{32}")

LINKS = Kind(
    "links",
    "zset",
    parts=(LINK_DIGEST,),
    holds="numbers of the articles with a link, by time; the digest is of the link without tracking parameters",
    lifetime="while it has articles",
    written_by="post, edit, delete, import, reindex",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)


def canonical(link: str) -> str:
    """The form in which links are compared. A text that is no URL, as an old store may have, is its own form."""
    try:
        url = URL(link)
    except ValueError:
        return link
    host, port = url.hostname.rstrip("."), f":{url.port}" if url.port else ""
    query = "&".join(part for part in url.search.removeprefix("?").split("&") if part and not _is_tracking(part))
    return f"{url.protocol}//{host}{port}{url.pathname}{query and '?' + query}"


def web_address(link: str | None) -> URL | None:
    """The URL of a link; None if there is none, or a text that is no http or https URL, as an old store may have."""
    try:
        url = URL(link) if link else None
    except ValueError:
        return None
    return url if url and url.protocol in ("http:", "https:") else None


def digest(link: str) -> str:
    """The digest of the canonical form, as in keys; "" if there is no link."""
    if not link:
        return ""
    return sha256(canonical(link).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]


def _is_tracking(part: str) -> bool:
    name = unquote_plus(part.partition("=")[0]).lower()
    return name in TRACKING or name.startswith(TRACKING_PREFIXES)
