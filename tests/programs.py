"""
Programs that some tests need besides Python. A missing program is installed if possible; else the test is skipped with
the reason, or fails on CI.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest


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
    if shutil.which(name) is None:
        install(package or name)
    return shutil.which(name) or missing(f"{name} is not installed")


def install(package: str) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        missing(f"{package} is not installed, and only root on Debian can install it here")
    run("apt-get", "update")
    run("apt-get", "install", "--yes", "--no-install-recommends", package)


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        missing(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")


def missing(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
