"""The sources of the reader: formatted, and without errors of types."""

import subprocess

import pytest

from tests import programs
from tests.server.commands import ROOT

SOURCES = ROOT / "reader"


@pytest.mark.timeout(900)  # the first run on a machine installs the packages
@pytest.mark.parametrize(
    "commands",
    [
        [["prettier/bin/prettier.cjs", "--check", "."]],
        [["@graphql-codegen/cli/cjs/bin.js"], ["typescript/bin/tsc", "--noEmit"]],
    ],
    ids=["formatted", "typed"],
)
def test_sources_have_no_faults(commands):
    modules = programs.node_modules(SOURCES)

    for program, *arguments in commands:
        command = [programs.node(), str(modules / program), *arguments]
        done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
