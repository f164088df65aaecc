"""States of articles and comments as the tables have them: by their names in the API."""

from store.records import ContentState


def state(found: ContentState) -> str:
    return found.name


def state_of(word: str) -> ContentState:
    """The state that a table has. What is no known word shows nothing, as if it was removed: `verify` reports it."""
    return ContentState.__members__.get(word, ContentState.REMOVED)
