"""
A crowd: many answers to one article, one after another. The server keeps more indexes of comments from 17 answers to
one article or comment on, and random comments alone hardly ever give one so many.
"""

from random import Random
from typing import Any

from tests.soak.model import Model
from tests.soak.records import Article
from tests.soak.variables import KnownValues

BEGINS = 0.004  # the share of steps with which a crowd begins
ANSWERS = 0.4  # the share of steps that are its answers, while it lasts
MOST = 24  # answers of a crowd, of which some may be refused
NEWEST = 10  # articles, of which a crowd answers one


class Crowd:
    """The article that many answer at present, if there is one, and how many answers are still to come."""

    def __init__(self, random: Random, model: Model, known: KnownValues) -> None:
        self.random, self.model, self.known = random, model, known
        self.article: Article | None = None
        self.to_come = 0

    def answer(self) -> dict[str, Any] | None:
        """The input of the next answer; mostly None."""
        if not self.to_come and self.model.articles and self.random.random() < BEGINS:
            self.article, self.to_come = self.random.choice(list(self.model.articles.values())[-NEWEST:]), MOST
        if self.article is None or not self.to_come or self.random.random() > ANSWERS:
            return None
        self.to_come = self.to_come - 1 if self.article.number in self.model.articles else 0
        content = f"one of many {self.random.randint(1, 9_999)}"
        return {"articleId": self.known.articles[self.article.number], "content": content} if self.to_come else None
