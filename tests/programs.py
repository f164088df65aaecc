"""
Programs that some tests need besides Python. A missing program is installed if possible; else the test is skipped with
the reason, or fails on CI.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

LOCK = Path(tempfile.gettempdir(), "upvote-tests-install.lock")
POLICY = Path("/usr/sbin/policy-rc.d")  # Debian asks this program whether a service may start; 101 forbids it


def chromium() -> str:
    return program("chromium")


def node() -> str:
    return program("node", package="nodejs")


def node_modules(folder: Path) -> Path:
    """Install package-lock.json of a folder if it has changed, and return its node_modules."""
    modules, lock = folder / "node_modules", folder / "package-lock.json"
    installed = modules / ".package-lock.json"
    with lock.open() as locked:  # tests run in two processes
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            run(program("npm"), "ci", "--prefix", str(folder))
    return modules


def python_environment(folder: Path) -> Path:
    """Install requirements.lock of a folder into a virtual environment there if it has changed; return its programs."""
    environment, lock = folder / ".venv", folder / "requirements.lock"
    stamp = environment / "stamp"
    with lock.open() as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.stat().st_mtime < lock.stat().st_mtime:
            uv = (sys.executable, "-m", "uv")
            run(*uv, "venv", "--clear", "--python", sys.executable, str(environment))
            run(*uv, "pip", "install", "--require-hashes", "--python", str(environment), "-r", str(lock))
            stamp.touch()
    return environment / "bin"


def program(name: str, package: str | None = None) -> str:
    """The path of a program. If it is missing, its Debian package is installed, by default the one of the same name."""
    if shutil.which(name) is None:
        with LOCK.open("w") as locked:  # tests run in two processes
            fcntl.flock(locked, fcntl.LOCK_EX)
            if shutil.which(name) is None:
                install(package or name)
    return shutil.which(name) or skip_or_fail(f"{name} is not installed")


def install(package: str) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        skip_or_fail(f"{package} is not installed, and only root on Debian can install it here")
    run("apt-get", "update")
    with starting_no_services():
        run("apt-get", "install", "--yes", "--no-install-recommends", package)


@contextmanager
def starting_no_services() -> Iterator[None]:
    """Debian starts the services that it installs, such as nginx at port 80, unless this policy forbids it."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def run(*command: str) -> None:
    """Run a command; if it fails, the test is skipped or fails."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        skip_or_fail(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test, or fail it on CI, because something that it needs is missing, such as a program."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
