"""
Workers are killed with SIGKILL while they send mails: none is sent twice, and each kill loses one at most.

U5 is a row of `docs/behaviours.md`, which this test proves.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from store import mails
from store.store import Store
from tests.conftest import registered
from tests.server.conftest import serving
from tests.server.mailing import MailServer, mail_server
from tests.support.processes import workers_of

USERS, KILLS = 400, 12  # each user gets one mail
SLOWNESS = 0.01  # seconds for each mail


class SlowServer(MailServer):
    """Takes some time for each mail, so that kills come while one is being sent."""

    async def handle_DATA(self, server, session, envelope):
        await asyncio.sleep(SLOWNESS)
        return await super().handle_DATA(server, session, envelope)


@pytest.mark.timeout(400)  # after each kill the workers start anew
async def test_mails_are_sent_once_though_workers_are_killed(tmp_path: Path):  # U5
    with mail_server(SlowServer()) as smtp:
        settings = {"public_url": "https://up.example", "mail_from": "up@up.example", "smtp_url": smtp.url}
        with serving(tmp_path, workers=2, partitions=4, log_level="error", **settings) as live:
            store = await Store.open(f"unix://{(tmp_path / 'address').read_text()}", partitions=4, offers_mail=True)
            for number in range(USERS):
                await store.mailboxes.set_first(await registered(store, f"user-{number}"), f"{number}@up.example")
            chance, killed = random.Random(7), 0  # how often all workers were killed
            async with asyncio.timeout(300):
                while (await mails.backlog(store.site)).count:
                    before, some = len(smtp.received), chance.randrange(5, 30)
                    while len(smtp.received) < before + some and (await mails.backlog(store.site)).count:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
                    if killed < KILLS:
                        for worker in await asyncio.to_thread(workers_of, live, tmp_path):
                            os.kill(worker, signal.SIGKILL)
                        killed += 1
            await store.close()
            assert live.stop() == 0  # which ends after the mail that is being sent

    times = Counter(mail.to for mail in smtp.received)
    assert killed == KILLS
    assert max(times.values()) == 1
    assert USERS - len(times) <= KILLS
