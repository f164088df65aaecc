"""The content of a store, to compare with that of another one."""

from redis import Redis

from server.settings import Settings
from store import keys, log
from store.maintenance.restore import ORIGIN_FIELD
from tests.store.reading import contents

# beginnings of keys that have ids of entries of the log of changes
OF_THE_LOG = ("logged:", "effects:", "applied:")


def stored(settings: Settings) -> dict[str, object]:
    """The content of a store, without its log, where it came from, and the times of follows, which differ."""
    with Redis.from_url(settings.redis_url, decode_responses=True) as redis:
        found = {key: value for key, value in contents(redis).items() if not key.startswith(OF_THE_LOG)}
    for name in (log.IDENTITY_FIELD, ORIGIN_FIELD):
        found.get(keys.store(), {}).pop(name, None)
    return {key: {*dict(value)} if key.startswith("followers:") else value for key, value in found.items()}
