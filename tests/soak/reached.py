"""Counts how often a soak reached each of the cases that it has to reach."""

from collections import Counter

# By case, the operations after which it has to be reached. Most cases are reached every hundred operations.
REQUIRED = {
    "all sessions run out": 5_000,
    "backward pages": 1_000,
    "comment carried out": 1_000,
    "comments of deleted articles": 10_000,
    "cursors of deleted comments": 20_000,
    "deleteArticle carried out": 2_000,
    "deleteComment carried out": 3_000,
    "editArticle carried out": 5_000,
    "editComment carried out": 6_000,
    "empty timelines": 4_000,
    "ended sessions reported": 3_000,
    "equal queries at once": 1_000,
    "equal values": 1_000,
    "equal values of comments": 4_000,
    "equal values of several partitions": 8_000,
    "errors in nested fields": 1_000,
    "feed pages past an empty timeline": 6_000,
    "follows ended": 5_000,
    "forged cursors": 2_000,
    "front pages that have articles": 6_000,
    "group moves": 5_000,
    "hidden replies": 6_000,
    "idempotency mismatches": 17_000,
    "listings since an instant": 2_000,
    "logIn carried out": 8_000,
    "marks that would move back": 17_000,
    "pages after a cursor": 1_000,
    "pinned pages of deleted articles alone": 30_000,
    "pinned pages with deleted articles": 7_000,
    "pins of those who have posted": 15_000,
    "refusals FORBIDDEN": 4_000,
    "refusals INVALID": 2_000,
    "refusals NOT_FOUND": 4_000,
    "refusals SELF_FOLLOW": 5_000,
    "refusals UNAUTHENTICATED": 2_000,
    "refusals VOTING_CLOSED": 2_000,
    "replays of comments": 15_000,
    "replays of deleted posts": 50_000,
    "replays of posts": 15_000,
    "replies deep in a thread": 12_000,
    "sessions ended": 25_000,
    "step drop": 6_000,
    "step kill": 6_000,
    "step overtaken": 1_000,
    "step restart": 6_000,
    "step writes": 1_000,
    "stubs": 6_000,
    "stubs that vanish": 25_000,
    "thread pages after a cursor": 4_000,
    "thread pages under a comment": 5_000,
    "thread pages without comments that crossed the cursor": 20_000,
    "unseenOnly from below the mark": 8_000,
    "voteOnComment carried out": 3_000,
    "votes at the last instant": 4_000,
    "wrong passwords": 35_000,
}


class Reached(Counter[str]):
    def count(self, case: str, times: int = 1) -> None:
        self[case] += times

    def missing(self) -> list[str]:
        """The cases that were not reached although there were enough operations."""
        return [case for case, enough in REQUIRED.items() if not self[case] and self["operations"] >= enough]

    def report(self) -> str:
        return "\n".join(f"{times:>10,}  {case}" for case, times in sorted(self.items()))
