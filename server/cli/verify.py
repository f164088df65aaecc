"""The command `verify`: prints one line for each inconsistency of the store, and repairs what can be derived."""

from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from dataclasses import dataclass

from archive import maintenance
from server.cli import opened_store
from server.cli.progress import progress_bar
from server.settings import Settings, read_settings
from store.maintenance import reindex
from store.maintenance import verify as verification
from store.maintenance.verify import Finding
from store.store import Store

SHOWN = 100  # findings that are printed
UNFINISHED = "a reindex is unfinished: run `reindex` again; the orders that it builds are not checked"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repair", action="store_true", help="repair what can be derived from other data")


def run(arguments: Namespace) -> int:
    return verify(read_settings(), arguments.repair)


@dataclass(slots=True)
class Report:
    """Prints the first findings and counts all of them."""

    broken: int = 0
    repaired: int = 0

    def add(self, finding: Finding) -> None:
        self.broken += 1
        self.repaired += finding.repaired
        if self.broken <= SHOWN:
            print(_printable(f"{finding.where}: {finding.found}, should be {finding.expected}") + _end(finding))

    def __str__(self) -> str:
        if not self.broken:
            return "nothing is broken"
        more = f"and {self.broken - SHOWN} more\n" if self.broken > SHOWN else ""
        return f"{more}broken {self.broken}, repaired {self.repaired}"


def verify(settings: Settings, repair: bool) -> int:
    """
    Report each inconsistency of the store. Returns 1 if any is not repaired.

    Raises:
        LeaseTaken: another process repairs this store.
    """
    report = Report()

    async def check(store: Store) -> None:
        if await reindex.is_unfinished(store.site):
            print(UNFINISHED)
        # only one process repairs a store at a time
        alone = verification.repair_lease(store.site).held() if repair else nullcontext()
        async with alone, opened_store.archive_of(settings, store) as database:
            # what the database has of archived articles: sums in Redis, such as karma, count them, too
            tally = await maintenance.verify(store.site, database, report.add, repair=repair) if database else None
            with progress_bar("verify", await verification.size(store.site)) as advance:
                await verification.verify(store.site, report.add, repair=repair, progress=advance, archived=tally)

    opened_store.run(settings, check, strict=False)  # also a store whose indexes other settings have built
    print(report)
    return int(report.broken > report.repaired)


def _end(finding: Finding) -> str:
    return " (repaired)" if finding.repaired else ""


def _printable(text: str) -> str:
    """The text on one line: a damaged store may hold any bytes."""
    return text if text.isprintable() else repr(text)[1:-1]
