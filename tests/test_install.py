"""Upvote before it is installed: the first steps of the Makefile, and commands outside the environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REAL = Path(sys.executable).resolve()
WITHOUT_PIP = """#!/bin/sh
# Debian without python3-venv: the environment gets a Python and no pip
if [ "$2" = venv ]; then
  for folder; do :; done
  mkdir -p "$folder/bin" && ln -sf {python} "$folder/bin/python" && ln -sf {python} "$folder/bin/python3"
  echo 'The virtual environment was not created successfully because ensurepip is not available.'
  exit 1
fi
exec {python} "$@"
"""
# a Python that says that it has an older version; the Makefile calls it with -c and a program
OLD = """#!{python}
import sys
sys.version_info = {version}
exec(sys.argv[2])
"""


@pytest.fixture
def folder(tmp_path):
    """A copy of the project as it is cloned, and a folder `path` for programs that stand in for others."""
    (tmp_path / "path").mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("server", "store", "database", "archive", "resolvers", "caches"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.slow
def test_incomplete_environment_is_created_again(folder):
    stand_in(folder, "python3", WITHOUT_PIP.format(python=REAL))
    refused = run(folder, "make", "serve")
    assert refused.returncode == 2
    assert "On Debian and Ubuntu: apt install python3-venv. Then run make again\n" in refused.stderr
    assert (folder / ".venv/bin/python").exists()

    stand_in(folder, "python3", f'#!/bin/sh\nexec {REAL} "$@"\n')
    made = run(folder, "make", ".venv/bin/pip")

    assert made.returncode == 0, made.stderr
    assert run(folder, ".venv/bin/python", "-m", "pip", "--version").stdout.startswith("pip ")


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 10, 13)])
def test_old_python_gets_the_command_with_a_newer_one(folder, version):
    stand_in(folder, "python3", OLD.format(python=REAL, version=version))

    refused = run(folder, "make", "serve")

    hint = "Upvote needs Python 3.11 or newer, and python3 is older: type make serve PYTHON=python3.12\n"
    assert refused.stderr.startswith(hint)
    assert not (folder / ".venv").exists()


def test_absent_python_is_named(folder):
    refused = run(folder, "make", "serve", "PYTHON=python3.99")

    assert refused.stderr.startswith("There is no python3.99: install Python 3.11 or newer\n")


def test_module_outside_the_environment_names_the_command(folder):
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/upvote").touch()

    done = run(folder, str(REAL), "-S", "-m", "server", "lab", "my stories.csv")

    assert done.returncode == 2
    reason, _, command = done.stderr.rpartition(": type ")
    assert reason.startswith("upvote: this Python has no module ")
    assert command == ".venv/bin/upvote lab 'my stories.csv'\n"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [(["serve"], "make serve\n"), (["verify"], "make serve, and then .venv/bin/upvote verify\n")],
)
def test_module_before_installation_names_make(folder, arguments, command):
    done = run(folder, str(REAL), "-S", "-m", "server", *arguments)

    assert (done.returncode, done.stderr.rpartition(": type ")[2]) == (2, command)


def test_module_with_an_old_python_names_the_version(folder):
    program = "import sys; sys.version_info = (3, 9, 18); from server.__main__ import main; sys.exit(main())"

    done = run(folder, str(REAL), "-c", program)

    assert done.returncode == 2
    assert done.stderr.startswith("upvote: Upvote needs Python 3.11 or newer, this is ")
    assert done.stderr.count("\n") == 1


def stand_in(folder: Path, name: str, script: str) -> None:
    program = folder / "path" / name
    program.write_text(script)
    program.chmod(0o755)


def run(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command without the environment variables of the tests."""
    environment = {"PATH": f"{folder / 'path'}:{os.defpath}", "HOME": str(folder), "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=110)
