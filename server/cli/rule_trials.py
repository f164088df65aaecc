"""
Tries the rules of a site, by which texts and votes are held or refused without a moderator, on the texts and votes that
the database has. Prints what each would have caught, with examples.
"""

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime

from database import history
from database.database import Database
from server.cli.role import holders
from store.rules import HOLD, REFUSE, Rules
from store.store import Store
from store.trials import UNKNOWN, Caught, Example, Trial

WIDTH = 60  # characters of the text of an example


async def report(rules: Rules, store: Store, database: Database) -> None:
    """Replay all texts and votes of the database under rules and print the result. Reads all of the database once."""
    trial = Trial(rules, await history.joined(database), await holders(store))
    votes = iter(await history.votes(database))
    vote, text_count, vote_count = next(votes, None), 0, 0
    async for text in history.texts(database):
        while vote and vote.at <= text.at:
            trial.add_vote(vote)
            vote, vote_count = next(votes, None), vote_count + 1
        trial.add_text(text)
        text_count += 1
    while vote:
        trial.add_vote(vote)
        vote, vote_count = next(votes, None), vote_count + 1
    print(f"{text_count} texts and {vote_count} votes of others were replayed; nothing was changed")
    for line in _lines(rules, trial.caught):
        print(line)


def _lines(rules: Rules, caught: dict[str, Caught]) -> Iterator[str]:
    """A line for each rule that applies, followed by its examples; `caught` is by the names of rules."""
    for name in [each.name for each in fields(rules) if getattr(rules, each.name)]:
        if name in UNKNOWN:
            yield f"{name}: not tried, as the database does not know what it takes"
        elif name not in caught:
            yield f"{name}: nothing"
        else:
            counts = caught[name].counts
            words = [f"{counts[action]} {word}" for action, word in ((HOLD, "held"), (REFUSE, "refused"))]
            yield f"{name}: {', '.join(word for word in words if not word.startswith('0 '))}"
            yield from map(_line, caught[name].examples)


def _line(example: Example) -> str:
    day = datetime.fromtimestamp(example.at / 1000, UTC).strftime("%Y-%m-%d")
    text = " ".join(example.text.split())
    return f"  {day} {example.id} {example.username}: {text[:WIDTH]}{'…' * (len(text) > WIDTH)}"
