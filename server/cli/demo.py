"""The command `demo`: serve a store of its own that holds a small sample, and is forgotten when the server ends."""

from pathlib import Path
from tempfile import TemporaryDirectory

from server.cli import import_stories, session
from server.cli.import_stories import Options
from server.settings import Settings

SAMPLE = Path(__file__).parents[1] / "sample.csv"


def run(settings: Settings) -> int:
    with TemporaryDirectory(prefix="upvote-demo-") as folder:
        own = settings.model_copy(update={"data_dir": Path(folder), "redis_url": None})
        with session.store_of(own) as opened:
            import_stories.run(opened, SAMPLE, Options(shift_to_now=True, with_voters=True))
            return session.serve(opened)
