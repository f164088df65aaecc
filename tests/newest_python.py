"""
Runs the tests of `server` and `database` on the newest CPython of this machine, in an environment of its own.

`make test-newest` runs this; pytest gets its arguments. Interpreters are looked for on PATH and where pyenv keeps them.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / ".venv-newest"
MINORS = range(sys.version_info.minor + 1, sys.version_info.minor + 10)  # minor versions newer than this Python's
TESTS = (  # arguments of pytest
    "--numprocesses",
    "2",
    "--dist",
    "loadfile",
    "-m",
    "not slow",
    "tests/server",
    "tests/database",
)


def main() -> int:
    found = dict(sorted((minor_of(path), path) for path in interpreters()))
    newer = [minor for minor in found if minor in MINORS]
    if not newer:
        print(f"no CPython newer than 3.{sys.version_info.minor} is installed: there is nothing to run")
        return 0
    newest = found[max(newer)]
    print(f"tests of server and database on {newest}", flush=True)
    install(newest)
    command = (ENVIRONMENT / "bin/python", "-m", "pytest", *TESTS, *sys.argv[1:])
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"EXAMPLES": "few"}).returncode


def interpreters() -> Iterator[Path]:
    for minor in MINORS:
        if path := shutil.which(f"python3.{minor}"):
            yield Path(path)
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    yield from sorted(kept.glob("3.*/bin/python"))


def minor_of(interpreter: Path) -> int:
    """
    The minor version of an interpreter; -1 if it is not CPython or does not start, as a shim of pyenv whose version is
    not chosen.
    """
    code = "import sys; print(sys.implementation.name == 'cpython' and sys.version_info.minor)"
    done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True)
    return int(done.stdout) if done.stdout.strip().isdecimal() else -1


def install(interpreter: Path) -> None:
    """Install the locked packages for an interpreter, unless the stamp says that this was done."""
    lock, stamp = ROOT / "requirements-dev.lock", ENVIRONMENT / "stamp"
    wanted = f"{interpreter}\n{lock.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    uv = (sys.executable, "-m", "uv")
    packages = ("pip", "install", "--quiet", "--python", ENVIRONMENT)
    run(*uv, "venv", "--quiet", "--clear", "--python", interpreter, ENVIRONMENT)
    run(*uv, *packages, "--require-hashes", "--requirements", lock)
    run(*uv, *packages, "--no-deps", "--no-build-isolation", "--editable", ROOT)
    stamp.write_text(wanted)


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True)


if __name__ == "__main__":
    sys.exit(main())
