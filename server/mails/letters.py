"""Composes mails when they are sent: reads their contents from the store, and writes them as plain text and as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime, make_msgid
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from database.database import Database
from resolvers.context import Context
from schema.schema import SCHEMA
from server.reader.moderation_texts import ACTION_FIELDS, sentence_of
from server.words.words import Words
from store import inboxes, keys, mailboxes, one_time_tokens, standing_bans
from store.mailboxes import MailFrequency, UserMailbox
from store.mails import WaitingMail
from store.one_time_tokens import Purpose
from store.store import Store

MOST_SHOWN = 20  # notifications in a mail
MOST_ACCOUNTS = 20  # of an address, in a mail
EXCERPT = 500  # characters of a text
# what notifications are about, by id: comments and articles, and actions of moderators
SUBJECTS = f"""query($ids: [ID!]!) {{ nodes(ids: $ids) {{
  ... on Comment {{ id content commenter: poster {{ username }} article {{ id title }} }}
  ... on Article {{ id title content poster {{ username }} }}
  ... on ModerationAction {{ reason {ACTION_FIELDS} }} }} }}"""
TEMPLATES = FileSystemLoader(Path(__file__).with_name("templates"))
PLAIN = Environment(loader=TEMPLATES, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
HTML = Environment(loader=TEMPLATES, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)


class LinkHeader(UnstructuredHeader, BaseHeader):
    """
    A header that has a link, on one line. If the link is longer than a line, the library would write encoded words,
    which programs for mail do not decode in such a header.
    """

    def fold(self, *, policy: "Policy[Any]") -> str:
        return f"{self.name}: {self}{policy.linesep}"


HEADERS = HeaderRegistry()
HEADERS.map_to_type("List-Unsubscribe", LinkHeader)
POLICY = SMTP.clone(cte_type="7bit", header_factory=HEADERS)  # how a message is encoded: not all servers take 8 bits


@dataclass(frozen=True, slots=True)
class Letter:
    """
    A mail to an address, which several users may share.

    - `template` is the name of its two templates, for plain text and for HTML; `values` are what they show.
    - `about` has the entries of `WaitingMail.about` that the mail covers: notifications, or an address.
    - `tokens` has, by the name of a user, the purpose of the token in the link for that user, and the address that the
      link confirms, or "". The token itself is issued when the mail is composed.
    - `unsubscribing` is a link that ends such mails; None for mails that users cannot end.
    """

    to: str
    usernames: Sequence[str]
    template: str
    subject: str
    values: Mapping[str, Any]
    about: Sequence[str] = ()
    tokens: Mapping[str, tuple[Purpose, str]] = field(default_factory=dict)
    unsubscribing: str | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """A user who may get mails: not one who is banned from the site, or is being deleted."""

    name: str
    has_password: bool
    mailbox: UserMailbox


class Letters:
    """
    Makes mails from what the store and the database have. `url` is the public address of the site: no request says
    where the links of a mail lead. `words` are the texts of the site's language: users do not choose that of their
    mails. `sender` is the name and the address that mails are from.
    """

    def __init__(
        self,
        store: Store,
        database: Database | None,
        url: str,
        sender: tuple[str, str],
        site_name: str,
        words: Words,
    ) -> None:
        self._store, self._database, self._url, self._sender, self._site_name = store, database, url, sender, site_name
        self._words = words

    async def prepare(self, waiting: WaitingMail) -> Letter | None:
        """What a waiting mail says as of now; None if it has nothing to say any more, or nobody may get it."""
        if waiting.what == "reset":
            return await self._reset(waiting.subject)
        recipient = await self._recipient(waiting.subject)
        if recipient is None:
            return None
        match waiting.what:
            case "confirm":
                return self._confirmation(recipient)
            case "identity":
                return self._identity(recipient)
            case "replies":
                return await self._replies(recipient, list(waiting.about))
            case _:
                return self._notice(recipient, waiting)

    async def compose(self, letter: Letter) -> bytes:
        """The bytes of the message, with tokens that are issued now. A round trip for each token."""
        tokens = {}
        for name, (purpose, detail) in letter.tokens.items():
            tokens[name] = (await one_time_tokens.issue(self._store.site, name, purpose, detail)).text
        values: dict[str, Any] = {"t": self._words, "url": self._url, "site": self._site_name, "tokens": tokens}
        values |= {"unsubscribing": letter.unsubscribing, **letter.values}
        message = EmailMessage(POLICY)
        name, address = self._sender
        message["From"] = Address(name, addr_spec=address)
        message["To"] = Address(addr_spec=letter.to)
        message["Subject"] = one_line(letter.subject)
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = make_msgid(domain=address.rpartition("@")[2])
        message["Auto-Submitted"] = "auto-generated"
        if letter.unsubscribing:
            message["List-Unsubscribe"] = f"<{letter.unsubscribing}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content(PLAIN.get_template(f"{letter.template}.txt").render(values))
        message.add_alternative(HTML.get_template(f"{letter.template}.html").render(values), subtype="html")
        return message.as_bytes()

    async def _recipient(self, username: str) -> Recipient | None:
        """The recipient with a name; None if the user gets no mails. One round trip."""
        site = self._store.site
        partition = site.partition_of_user(username)
        fields, (name, password, bans) = await site.redis.pipeline(
            [
                ("HGETALL", mailboxes.mailbox(partition, username)),
                ("HMGET", keys.user(partition, username), "name", "password", "bans"),
            ]
        )
        if name is None or standing_bans.of_site(bans or "", site.clock()):
            return None
        return Recipient(name, password is not None, mailboxes.parse(fields))

    def _confirmation(self, recipient: Recipient) -> Letter | None:
        pending = recipient.mailbox.pending
        if pending is None or pending == recipient.mailbox.unusable:  # the mail server has refused the address
            return None
        return Letter(
            to=pending,
            usernames=[recipient.name],
            template="confirm",
            subject=self._words("mail-confirm-subject", site=self._site_name),
            values={"username": recipient.name},
            tokens={recipient.name: (Purpose.CONFIRM, pending)},
        )

    def _identity(self, recipient: Recipient) -> Letter | None:
        to, name = recipient.mailbox.usable, recipient.name
        if to is None:
            return None
        subject = self._words("mail-identity-subject", site=self._site_name)
        return Letter(to, [name], "identity", subject, values={"username": name}, tokens={name: (Purpose.IDENTITY, "")})

    def _notice(self, recipient: Recipient, waiting: WaitingMail) -> Letter | None:
        """The mail to an address that was changed or removed: the waiting mail has noted this address."""
        to = next(iter(waiting.about), None)
        if to is None or to == recipient.mailbox.unusable:
            return None
        entry = "mail-change-subject" if waiting.what == "change" else "mail-removal-subject"
        subject = self._words(entry, site=self._site_name)
        return Letter(to, [recipient.name], waiting.what, subject, values={"username": recipient.name}, about=[to])

    async def _reset(self, name_or_digest: str) -> Letter | None:
        """
        The mail with a link to choose a new password: for the user with a name, or for all users who have confirmed the
        address with a digest.
        """
        if mailboxes.ADDRESS_DIGEST.fits(name_or_digest):
            names = (await self._store.mailboxes.with_address(name_or_digest))[:MOST_ACCOUNTS]
        else:
            names = [name_or_digest]
        recipients = [each for name in names if (each := await self._recipient(name)) and each.mailbox.usable]
        if not recipients:
            return None
        to = recipients[0].mailbox.usable
        assert to
        with_password = [each.name for each in recipients if each.has_password]
        return Letter(
            to=to,
            usernames=[each.name for each in recipients],
            template="reset",
            subject=self._words("mail-reset-subject" if with_password else "mail-how-subject", site=self._site_name),
            values={"names": with_password, "others": [each.name for each in recipients if not each.has_password]},
            tokens={name: (Purpose.RESET, "") for name in with_password},
        )

    async def _replies(self, recipient: Recipient, noted: Sequence[str]) -> Letter | None:
        """The mail with replies and mentions, without what was seen, deleted or hidden meanwhile."""
        mailbox = recipient.mailbox
        if mailbox.usable is None or mailbox.replies is MailFrequency.NEVER:
            return None
        ids = await self._unseen(recipient.name, noted)
        shown = await self._described(ids[:MOST_SHOWN])
        if not shown:
            return None
        more = max(0, len(ids) - MOST_SHOWN)
        token = mailboxes.unsubscribing_token(recipient.name, mailbox.key)
        return Letter(
            to=mailbox.usable,
            usernames=[recipient.name],
            template="replies",
            subject=shown[0]["said"]
            if len(ids) == 1
            else self._words("mail-replies-subject", count=len(ids), site=self._site_name),
            values={"username": recipient.name, "shown": shown, "more": more},
            about=noted,
            unsubscribing=f"{self._url}/unsubscribe/{quote(token)}",
        )

    async def _unseen(self, username: str, noted: Sequence[str]) -> list[str]:
        """The ids of what notifies a user and was not seen, the oldest first. One round trip."""
        numbers = [int(member.split()[0]) for member in noted]  # each is `NUMBER KIND TYPE` of a subject
        read = inboxes.find(self._store.site, username, numbers)
        found = read.result(await self._store.site.redis.run(read.command)).values()
        unseen = sorted((each for each in found if not each.is_seen), key=lambda each: each.position)
        return [f"{each.type}:{each.number}" for each in unseen]

    async def _described(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """What each of some subjects says, as everybody may read it; without those that nobody may."""
        if not ids:
            return []
        result = await SCHEMA.execute(SUBJECTS, {"ids": ids}, Context(self._store, database=self._database))
        if result.errors:
            raise result.errors[0].original_error or result.errors[0]
        assert result.data is not None, "data is null only beside errors"
        return [found for node in result.data["nodes"] if node and (found := self._line(node))]

    def _line(self, node: Mapping[str, Any]) -> dict[str, str] | None:
        """What the templates show of one of `SUBJECTS`: a sentence, its text, and the address of its page."""
        kind, _, number = node["id"].partition(":")
        if kind == "action":
            return {
                "said": sentence_of(self._words, node),
                "text": _excerpt(node["reason"]),
                "url": f"{self._url}/inbox",
            }
        if kind == "article":
            name, page = node["poster"]["username"], f"/article/{number}"
            said = self._words("mail-mentioned", name=name, title=node["title"])
        elif node["commenter"] and node["content"] is not None:
            article = node["article"]
            said = self._words("mail-wrote", name=node["commenter"]["username"], title=article["title"])
            page = f"/{article['id'].replace(':', '/')}/comment/{number}"
        else:  # deleted or hidden
            return None
        return {"said": said, "text": _excerpt(node["content"] or ""), "url": self._url + page}


def one_line(text: str) -> str:
    """A text without line breaks, which would begin another header."""
    return " ".join(text.split())


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1].rstrip() + "…"
