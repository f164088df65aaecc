"""The command `demo`: serves a small sample from a temporary store, which is deleted when the server ends."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from server.cli import opened_store
from server.cli.import_stories import ImportOptions, import_stories
from server.cli.serve import listening, serve
from server.settings import read_settings
from server.trusted import LOCAL_ORIGINS

SAMPLE = Path(__file__).parents[1] / "sample.csv"
SAMPLE_COMMENTS = SAMPLE.with_name("sample_comments.jsonl")


def add_arguments(parser: ArgumentParser) -> None:
    """The command has no arguments."""


def run(arguments: Namespace) -> int:
    settings = read_settings()
    with listening(settings) as listener, TemporaryDirectory(prefix="upvote-demo-") as folder:
        own = {"data_dir": Path(folder), "redis_url": None, "database_url": None}
        origins = {"allowed_origins": settings.allowed_origins or LOCAL_ORIGINS}
        temporary = settings.model_copy(update=own | origins)
        with opened_store.running_store(temporary) as with_url:
            import_stories(with_url, [SAMPLE, SAMPLE_COMMENTS], ImportOptions(shift_to_now=True, with_voters=True))
            return serve(with_url, listener)
