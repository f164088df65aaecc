"""
Keys of a provider that are rotated while clients of two processes send tokens of the old and of the new one.

Codes such as U3 name rows of docs/behaviours.md.
"""

import asyncio
import time
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from tests.engine.sample import until
from tests.server.conftest import serving
from tests.server.issuers import provider
from tests.server.issuers.issuing import written
from tests.server.issuers.provider import Provider
from tests.servers import PATIENCE

CLIENTS = 24  # that send requests at the same time
FIRST, SECOND, THIRD = (RSAKey.generate_key(2048, {"kid": f"rotated-{number}"}) for number in range(3))
FETCHES_APART = 5.0  # seconds, at least
VIEWER = {"query": "{ viewer { username } }"}


@dataclass
class Load:
    """
    Clients that send requests to the server at `url`, one after the other, each with a new token, or with one that was
    sent before. The server asks the provider `issuer` for its keys.
    """

    issuer: Provider
    url: str
    signing: list[Any]
    answers: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    _random: Random = field(default_factory=lambda: Random(1))
    _sent: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def running(self):
        async with asyncio.TaskGroup() as group:
            clients = [group.create_task(self._client(number)) for number in range(CLIENTS)]
            yield
            for client in clients:
                client.cancel()

    async def sign_with(self, *keys: Any) -> None:
        """Sign with these keys from now on, and wait until tokens of each were accepted."""
        self.signing = list(keys)
        before = self.accepted.copy()
        await until(lambda: all(self.accepted[key.kid] > before[key.kid] + CLIENTS for key in keys))

    async def _client(self, number: int) -> None:
        async with httpx.AsyncClient(timeout=PATIENCE) as http:
            while True:
                key = self._random.choice(self.signing)
                if self._random.random() < 0.5 or key.kid not in self._sent:
                    self._sent[key.kid] = self.token(key, f"user{number}")
                token = self._sent[key.kid]
                response = await http.post(
                    f"{self.url}/graphql", json=VIEWER, headers={"authorization": f"Bearer {token}"}
                )
                is_accepted = response.status_code == 200 and response.json()["data"]["viewer"] is not None
                self.answers["accepted" if is_accepted else response.text] += 1
                self.accepted[key.kid] += is_accepted

    def token(self, key: Any, subject: str) -> str:
        return self.issuer.tokens(time.time(), key).token(subject, name=subject)


@pytest.mark.slow
async def test_keys_rotate_under_load_without_one_false_refusal(tmp_path):  # U3
    async with provider.running(keys=[FIRST]) as issuer:
        with serving(tmp_path / "data", workers=2, partitions=2, issuers=written(tmp_path, issuer.table())) as live:
            load = Load(issuer, live.url, [FIRST])
            async with load.running():
                await load.sign_with(FIRST)
                issuer.keys = [FIRST, SECOND]
                await load.sign_with(FIRST, SECOND)  # at once: servers have not asked for keys again
                await load.sign_with(SECOND)
                issuer.keys = [SECOND, THIRD]
                await load.sign_with(SECOND, THIRD)
                await load.sign_with(THIRD)
                issuer.keys = [THIRD]

            assert load.answers.keys() == {"accepted"}, load.answers
            fetches = [at for path, at in issuer.asked_at if path != "/keys"]
            assert len(fetches) >= 3
            # the first was received late: the start of the server blocks this loop
            apart = [later - earlier for earlier, later in pairwise(fetches[1:])]
            assert min(apart) > FETCHES_APART - 1, apart
            revoked = await asyncio.to_thread(live.ask, VIEWER["query"], load.token(FIRST, "user0"))
            assert revoked["errors"][0]["extensions"] == {"code": "UNAUTHENTICATED", "reason": "key"}
