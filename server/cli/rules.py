"""The command `rules`: `example` prints sensible rules, as the file that UPVOTE_RULES names."""

from argparse import ArgumentParser, Namespace

EXAMPLE = """\
# Rules of a site, the file that UPVOTE_RULES names. It is read when the server starts. A table that is left out is a
# rule that does not apply.

# When flags hide an article or a comment until a moderator has looked at it. Without this table they hide nothing.
[flags]
hide_at = 3          # flags that count
votes_per_flag = 20  # and one that counts for so many votes of the thing: 5 hide what has 100 votes
# A flag counts if its user
least_age_days = 7   # has joined so many days ago
least_karma = 20     # has so much karma
least_voters = 5     # was upvoted by so many different users, at most 10
last_flags = 10      # and of so many of their last flags, at most 10, moderators have upheld more than overruled
"""


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="example")
    actions.add_parser("example", help="print sensible rules")


def run(arguments: Namespace) -> int:
    print(EXAMPLE, end="")
    return 0
