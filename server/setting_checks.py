"""
The checks of single settings. Each takes the value of a setting and returns it as it is used, or raises a ValueError
that says what is wrong with it.
"""

from email.utils import parseaddr

from server.public_url import HOST
from server.signatures import SECRET_BYTES, SECRET_PREFIX, is_secret
from server.trusted import ANY_PORT, TrustedProxies, check_origin
from store import validation
from store.errors import Invalid
from store.ranking.formulas import Order

NO_DATABASE = "none"  # the value of UPVOTE_DATABASE_URL for a site without a database


def power_of_two(count: int) -> int:
    if count & (count - 1):
        raise ValueError("must be a power of two")
    return count


def one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text.strip()


def origins(text: str) -> str:
    for origin in listed(text):
        check_origin(origin)
    return text


def exact_origins(text: str) -> str:
    """Origins, none of them with the port `*`, which stands for any."""
    for origin in listed(text):
        check_origin(origin)
        if origin.endswith(ANY_PORT):
            raise ValueError("list each origin with its port: cookies are only for those that are named")
    return text


def addresses(text: str) -> str:
    """Addresses and networks of proxies."""
    TrustedProxies(listed(text))  # raises
    return text


def orders(text: str) -> str:
    """Names of orders of articles, such as `HOT,TIME`."""
    names = {order.name for order in Order}
    if not listed(text) or not names.issuperset(listed(text)):
        raise ValueError(f"the orders are {', '.join(order.name for order in Order)}")
    return text


def shown_orders(text: str) -> str:
    """As `orders`, or empty."""
    return text and orders(text)


def front_order(text: str) -> str:
    if text and listed(text) != [text]:
        raise ValueError("it is one order")
    return shown_orders(text)


def listed(text: str) -> list[str]:
    """The parts of a list that is separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def usernames(text: str) -> str:
    for name in listed(text):
        if not validation.USERNAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a username, which is 2 to 20 of A-Z, a-z, 0-9, _ and -")
    return text


def username(text: str) -> str:
    if listed(text) != [text]:
        raise ValueError("it is one username")
    return usernames(text)


def hosts(text: str) -> str:
    for host in listed(text):
        if not HOST.fullmatch(host):
            raise ValueError(f"{host!r} is not the name of a host, with or without a port, in lower case")
    return text


def redis_url(url: str) -> str:
    from store.client import urls  # slow, and not needed for the managed Valkey

    urls.parse(url)  # raises
    return url


def database_url(url: str) -> str:
    if url == NO_DATABASE:
        return url
    from database.database import check_url  # slow, and not needed for the default

    return check_url(url)


def language(code: str) -> str:
    from server.words.checks import is_language  # slow, and not needed for the default

    if not is_language(code):
        raise ValueError("it is not the code of a language, such as de or pt-BR")
    return code


def http_url(url: str) -> str:
    from ada_url import check_url

    if not check_url(url) or not url.startswith(("http://", "https://")):
        raise ValueError("it is not a URL with http or https")
    return url


def webhook_secret(secret: str) -> str:
    if not is_secret(secret):
        raise ValueError(f"it is not {SECRET_PREFIX} and {SECRET_BYTES[0]} to {SECRET_BYTES[-1]} bytes in base64")
    return secret


def smtp_url(url: str) -> str:
    from server.mails import smtp  # not needed without mail

    smtp.parse(url)  # raises
    return url


def mail_sender(text: str) -> str:
    sender(text)  # raises
    return text


def sender(text: str) -> tuple[str, str]:
    """
    The name and the address in `Name <address>`, or in an address alone, whose name is "".

    Raises:
        ValueError: it is neither.
    """
    name, address = parseaddr(one_line(text))
    try:
        return name, validation.email(address)
    except Invalid:
        raise ValueError("it is neither an address nor like `Name <name@example.com>`") from None
