"""The Python client that ariadne-codegen writes, in an environment of its own, as it wants another graphql-core."""

import sys
from pathlib import Path

import pytest

from tests import programs
from tests.clients.conftest import ADDRESS, CLOSED, call, told

SOURCES = Path(__file__).with_name("python")


@pytest.mark.timeout(900)  # the first run on a machine installs ariadne-codegen
def test_generated_client_posts_pages_votes_and_is_refused(live, tmp_path):
    binaries = installed()
    for name in ("operations.graphql", "ariadne.toml", "story.py"):
        (tmp_path / name).write_text((SOURCES / name).read_text().replace(ADDRESS, live.url))

    call(binaries / "ariadne-codegen", "--config", "ariadne.toml", cwd=tmp_path)

    assert told(binaries / "python", "story.py", f"{live.url}/graphql", CLOSED, cwd=tmp_path) == {
        "titles": ["Second", "First"],
        "in order": True,
        "vote": [0, "DOWN"],
        "refused": ["VoteVoteUserErrorsVotingClosed", "VOTING_CLOSED", "2016-08-11T11:52:00+00:00"],
    }


def installed() -> Path:
    """Install what requirements.lock names, unless it is there, and return where the programs are."""
    environment, lock = SOURCES / ".venv", SOURCES / "requirements.lock"
    stamp = environment / "stamp"
    if not stamp.exists() or stamp.stat().st_mtime < lock.stat().st_mtime:
        uv = (sys.executable, "-m", "uv")
        programs.run(*uv, "venv", "--clear", "--python", sys.executable, str(environment))
        programs.run(*uv, "pip", "install", "--require-hashes", "--python", str(environment), "-r", str(lock))
        stamp.touch()
    return environment / "bin"
