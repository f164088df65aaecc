"""What a soak reached: a count for each thing that it has to meet, and which of them it never met."""

from collections import Counter

# How many operations it takes, at most, to meet each of these, with a large margin.
WANTED = {
    "operations": 1,
}


class Reached(Counter[str]):
    def count(self, what: str, times: int = 1) -> None:
        self[what] += times

    def missing(self) -> list[str]:
        """What was never met, though there were operations enough."""
        return [what for what, enough in WANTED.items() if not self[what] and self["operations"] >= enough]

    def report(self) -> str:
        return "\n".join(f"{times:>10,}  {what}" for what, times in sorted(self.items()))
