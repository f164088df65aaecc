"""
Mutants: faults that are put into a copy of the project, which the soak test has to find. It compares a server with a
model of it by random requests.
"""

import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.soak.server import ROOT

FOLDER = Path(__file__).parent / "mutants"
COPIED = (
    "archive",
    "caches",
    "database",
    "engine",
    "store",
    "resolvers",
    "schema",
    "server",
    "tests/soak/clock",
    "pyproject.toml",
)


@dataclass(frozen=True)
class Mutant:
    """
    A fault, as a file of `mutants/` describes it. `old` occurs once in the file and is replaced by `new`. The fault
    shows in stores of `partitions` partitions into which `imported` stories were imported, with the rules `rules.EVERY`
    if it `has_rules`.
    """

    name: str
    about: str
    file: str
    old: str
    new: str
    partitions: int
    imported: int = 0
    has_rules: bool = False

    def put_into(self, root: Path) -> None:
        """Copy the project and put the fault into the copy."""
        for name in COPIED:
            source, target = ROOT / name, root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
            else:
                shutil.copy(source, target)
        file = root / self.file
        text = file.read_text()
        assert text.count(self.old) == 1, f"{self.name}: `old` occurs {text.count(self.old)} times"
        file.write_text(text.replace(self.old, self.new))


def mutants() -> list[Mutant]:
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]


def read(path: Path) -> Mutant:
    found = tomllib.loads(path.read_text())
    found["old"], found["new"] = found["old"].removesuffix("\n"), found["new"].removesuffix("\n")
    return Mutant(path.stem, **found)
