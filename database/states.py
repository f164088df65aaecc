"""
States of articles and comments as the tables have them, such as VISIBLE or REMOVED: the names of the states in the API.
"""

from store.records import ContentState


def state(found: ContentState) -> str:
    return found.name


def state_of(word: str) -> ContentState:
    """The state for a word of a table. An unknown word counts as REMOVED, which is not shown; `verify` reports it."""
    return ContentState.__members__.get(word, ContentState.REMOVED)
