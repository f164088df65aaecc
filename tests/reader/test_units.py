"""The unit tests of the reader, the pages of the site in TypeScript, pass in Node. They need no server."""

import subprocess
from pathlib import Path

from tests import programs

READER = Path(__file__).parents[2] / "reader"


def test_units_of_the_reader_pass():
    binaries = programs.node_modules(READER) / ".bin"
    # vitest imports what graphql-codegen writes
    for command in ([binaries / "graphql-codegen"], [binaries / "vitest", "run"]):
        done = subprocess.run(command, cwd=READER, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
