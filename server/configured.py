"""
Opens what the settings name: files that are read at the start, the external service that checks texts, and the store.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine import read_trusted_documents
from server import reader
from server.branding import files as site_files
from server.issuers import file as issuers_file
from server.issuers.file import Issuers, WrongIssuers
from server.issuers.keyrings import require_usable_keys
from server.settings import DELETIONS_FILE, Settings, WrongSetting
from server.words.languages import Languages, languages
from store import rules
from store.rules import Rules, WrongRules
from store.site import Check
from store.store import Store

if TYPE_CHECKING:
    from server.text_check import TextCheck


def trusted_documents(settings: Settings) -> dict[str, str]:
    """
    The GraphQL documents of the file that `UPVOTE_TRUSTED_DOCUMENTS` names, by hash. If `UPVOTE_ONLY_TRUSTED` and
    the reader (the site's pages) are on, the documents of the reader are added: its pages must go on to work.

    Raises:
        WrongSetting: the file cannot be read, or no documents are trusted where no others are allowed.
    """
    needs_those_of_reader = settings.only_trusted == "on" and settings.reader == "on"
    of_reader = read_trusted_documents(reader.STATIC / "documents.json") if needs_those_of_reader else {}
    return of_reader | _documents_of_file(settings)


def _documents_of_file(settings: Settings) -> dict[str, str]:
    file = settings.trusted_documents
    if file is None:
        if settings.only_trusted == "on" and settings.reader == "off":
            raise WrongSetting("UPVOTE_ONLY_TRUSTED=on: UPVOTE_TRUSTED_DOCUMENTS names no file")
        return {}
    try:
        return read_trusted_documents(file)
    except OSError as error:
        raise WrongSetting(f"UPVOTE_TRUSTED_DOCUMENTS={file}: {error.strerror}") from error
    except ValueError as error:
        raise WrongSetting(f"UPVOTE_TRUSTED_DOCUMENTS={error}") from error


def rules_of(settings: Settings) -> Rules:
    """
    The rules in the file that `UPVOTE_RULES` names.

    Raises:
        WrongSetting: the file cannot be read, or has rules that are not valid.
    """
    if settings.rules is None:
        return rules.NO_RULES
    try:
        return rules.read(settings.rules)
    except OSError as error:
        raise WrongSetting(f"UPVOTE_RULES={settings.rules}: {error.strerror}") from error
    except WrongRules as error:
        raise WrongSetting(f"UPVOTE_RULES={error}") from error


def files_of(settings: Settings) -> site_files.SiteFiles:
    """
    The files by which the operator makes the site their own: theme, logo, pages, texts.

    Raises:
        WrongSetting: the folder that `UPVOTE_SITE_DIR` names is not there, or cannot be read.
    """
    folder = settings.site_folder
    if settings.site_dir is not None and not folder.is_dir():
        raise WrongSetting(f"UPVOTE_SITE_DIR={folder}: there is no such folder")
    try:
        return site_files.read(folder)
    except OSError as error:
        raise WrongSetting(f"{folder}: {error.strerror}") from error


def languages_of(settings: Settings, files: site_files.SiteFiles) -> Languages:
    """
    The texts of the pages: the built-in ones and those in the operator's files.

    Raises:
        WrongSetting: there are no texts in the language that `UPVOTE_SITE_LANGUAGE` names.
    """
    try:
        return languages(files.words, settings.site_language)
    except KeyError:
        wanted = settings.site_folder / f"{settings.site_language}.ftl"
        raise WrongSetting(
            f"UPVOTE_SITE_LANGUAGE={settings.site_language}: {wanted} with its texts is missing or broken"
        ) from None


def issuers_of(settings: Settings) -> Issuers | None:
    """
    The issuers (services outside at which users log in) in the file that `UPVOTE_ISSUERS` names; None if it names none.

    Raises:
        WrongSetting: the file, or one of keys that it names, cannot be read, or is not as it should be.
    """
    if settings.issuers is None:
        return None
    try:
        found = issuers_file.read(settings.issuers)
        require_usable_keys(found)
        return found
    except OSError as error:
        raise WrongSetting(f"UPVOTE_ISSUERS={settings.issuers}: {error.strerror}") from error
    except WrongIssuers as error:
        raise WrongSetting(f"UPVOTE_ISSUERS={error}") from error


def text_check_of(settings: Settings, on_result: Callable[[str], None]) -> "TextCheck | None":
    """What asks the service that `UPVOTE_CHECK_URL` names, if any; `on_result` gets a word for each answer."""
    if settings.check_url is None or settings.check_secret is None:
        return None
    from server.text_check import TextCheck  # here: its HTTP client is slow to import, and few servers need it

    return TextCheck(settings.check_url, settings.check_secret, on_result)


async def open_store(settings: Settings, *, strict: bool = True, check: Check | None = None) -> Store:
    """
    Open the store with these settings. Without `strict`, also one whose indexes were built with other weights. `check`
    is asked about each new or edited text.
    """
    assert settings.redis_url is not None, "the command line sets it to the managed Valkey if it is not given"
    return await Store.open(
        settings.redis_url,
        settings.policy,
        settings.partitions,
        settings.kept_orders,
        session_lifetime=settings.session_ttl,
        max_mentions=settings.mentions,
        reserved_names=settings.names_of_the_site,
        only_listed_groups=settings.groups == "listed",
        rules=rules_of(settings),
        check=check,
        deletions=settings.data_dir / DELETIONS_FILE,
        offers=settings.offers,
        offers_mail=settings.smtp_url is not None,
        comment_days=settings.comment_days,
        woken_comments=settings.woken_comments,
        confirming_replicas=settings.confirming_replicas,
        cached_keys=settings.cache,
        strict=strict,
        bounded_hashing=settings.rate_limits == "on",  # too many waiting passwords are refused
    )
