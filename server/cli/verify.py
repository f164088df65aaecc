"""The command `verify`: a line for what is broken, a bar for those who wait, and whether anything stays broken."""

import asyncio
from dataclasses import dataclass

from server.app import open_store
from server.cli import session
from server.cli.progress import bar
from server.settings import Settings
from store.maintenance import reindex, verify
from store.maintenance.verify import Finding

SHOWN = 100
UNFINISHED = "a reindex was interrupted, or is still running: run it again; what it was building is not verified"


@dataclass(slots=True)
class Report:
    """Prints the first findings, and counts all."""

    broken: int = 0
    mended: int = 0

    def tell(self, finding: Finding) -> None:
        self.broken += 1
        self.mended += finding.mended
        if self.broken <= SHOWN:
            print(_printable(f"{finding.where}: {finding.found}, should be {finding.expected}") + _end(finding))

    def __str__(self) -> str:
        if not self.broken:
            return "nothing is broken"
        more = f"and {self.broken - SHOWN} more\n" if self.broken > SHOWN else ""
        return f"{more}broken {self.broken}, mended {self.mended}"


def run(settings: Settings, repair: bool) -> int:
    """Report every broken invariant of the store; 1 where something is left broken."""
    report = Report()
    with session.store_of(settings, joining=True) as opened:
        asyncio.run(_verify(opened, repair, report))
    print(report)
    return int(report.broken > report.mended)


async def _verify(settings: Settings, repair: bool, report: Report) -> None:
    store = await open_store(settings, strict=False)
    try:
        if await reindex.is_unfinished(store.site):
            print(UNFINISHED)
        with bar("verify", await verify.size(store.site)) as walked:
            await verify.verify(store.site, report.tell, repair=repair, walked=walked)
    finally:
        await store.close()


def _end(finding: Finding) -> str:
    return " (mended)" if finding.mended else ""


def _printable(text: str) -> str:
    """Text on one line; what a broken store holds may be anything."""
    return text if text.isprintable() else repr(text)[1:-1]
