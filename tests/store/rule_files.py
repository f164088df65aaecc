"""Gives a site rules, which hold or refuse texts and votes without a moderator."""

from pathlib import Path

from store import rules
from store.store import Store


def set_rules(store: Store, folder: Path, text: str) -> None:
    """Give the site of an open store the rules that `text` says: the content of a TOML file."""
    file = folder / "rules.toml"
    file.write_text(text)
    object.__setattr__(store.site, "rules", rules.read(file))
