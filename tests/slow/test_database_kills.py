"""
The database while its server, Valkey and PostgreSQL are killed. `python -m tests.soak.kills` does it for longer.

Codes such as D1 after the name of the test are rows of `docs/behaviours.md`, which it proves.
"""

import secrets

import pytest

from tests import programs
from tests.servers import postgres_folder
from tests.soak import kills

KILLS = 15


@pytest.mark.timeout(900)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_database_has_each_change_once_whatever_is_killed(database):  # D1 D5
    if database == "postgresql":
        try:
            postgres_folder()
        except FileNotFoundError as error:
            programs.skip_or_fail(str(error))
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}: python -m tests.soak.kills --kills {KILLS} --seed {seed}")

    reached = kills.run(KILLS, seed, is_postgres=database == "postgresql")

    assert reached["posts"] > 0 and reached["votes"] > 0 and reached["follows"] > 0
    assert reached["comments"] > 0 and reached["votes on comments"] > 0 and reached["deletions of comments"] > 0
    assert sum(reached[victim] for victim in kills.WEIGHTS) >= KILLS
    assert reached["conversations that have left"] > 0
