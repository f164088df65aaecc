"""Stores whose site has rules, as a file says them."""

from pathlib import Path

from store import rules
from store.store import Store


def set_rules(store: Store, folder: Path, text: str) -> None:
    """Give the site of an open store the rules of a file with this text."""
    file = folder / "rules.toml"
    file.write_text(text)
    object.__setattr__(store.site, "rules", rules.read(file))
