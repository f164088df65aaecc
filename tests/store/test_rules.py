"""Text that would look like something else."""

import pytest

from store import rules
from store.errors import Invalid


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad"])
def test_link_with_invisible_characters_is_refused(hidden):
    with pytest.raises(Invalid, match="invisible"):
        rules.link(f"https://example.com/{hidden}moc")


@pytest.mark.parametrize("scheme", ["javascript", "data", "vbscript", "file", "JaVaScRiPt", "java\tscript", " data"])
def test_link_that_would_run_is_refused(scheme):
    with pytest.raises(Invalid):
        rules.link(f"{scheme}://example.com/%0aalert(1)")


@pytest.mark.parametrize("name", ["\u0430lice", "al\u0131ce", "\uff41lice", "alice\u200b", "ALI\u212aE"])
def test_name_that_looks_like_another_is_refused(name):
    with pytest.raises(Invalid):
        rules.username(name)
    with pytest.raises(Invalid):
        rules.group(name, "groups")
