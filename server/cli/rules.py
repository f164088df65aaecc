"""
The command `rules`, on the file that UPVOTE_RULES names, by which texts and votes are held, hidden or refused without a
moderator: `example` prints such a file, `try` prints what one would have caught.
"""

from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path

from server.errors import CommandError
from server.settings import read_settings
from store import rules
from store.rules import WrongRules

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

# Who has a role, such as a moderator, is exempt from all that follows. What is held waits for a moderator, and only its
# poster and moderators see it. Tables and keys after a # without a space are examples that do not apply.

# Words and phrases, in any case, with any accents. There are no patterns.
[words]
hold = ["casino bonus", "payday loan", "essay writing service"]
refuse = ["buy followers", "buy backlinks"]

# Domains with all below them, in links, in texts and by themselves.
[domains]
hold = ["bit.ly", "tinyurl.com"]
refuse = []

# Texts of an account are held until so many were approved, or stood for a day without a flag.
#[first_texts]
#hold = 1

# Texts with links of accounts that are too young or have too little karma: action is "hold" or "refuse".
#[links]
#least_age_days = 1
#least_karma = 5
#action = "hold"

# How many articles and comments an account may post in 24 hours while it is younger than some days.
[[texts_a_day]]
younger_than_days = 1
most = 20

[[texts_a_day]]
younger_than_days = 7
most = 60

# How often a user may post the same words in some hours; texts of fewer characters may be repeated.
[repeated_text]
most = 1
hours = 24
least_length = 20
action = "refuse"

# The least age and karma of who votes, votes down, and flags.
#[votes]
#least_age_days = 1

[downvotes]
least_age_days = 1
least_karma = 10

#[flagging]
#least_age_days = 1
#least_karma = 5

# How many accounts may be registered from an address in 24 hours; unlimited with UPVOTE_RATE_LIMITS=off.
[registrations]
a_day = 100
"""


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="example | try")
    example = actions.add_parser("example", help="print sensible rules")
    example.set_defaults(action=print_example)
    trial = actions.add_parser(
        "try", help="replay the texts and votes of the database, and print what rules would catch"
    )
    trial.add_argument("file", type=Path, metavar="FILE", help="the rules, as UPVOTE_RULES names them")
    trial.set_defaults(action=try_rules)


def run(arguments: Namespace) -> int:
    code: int = arguments.action(arguments)
    return code


def print_example(arguments: Namespace) -> int:
    print(EXAMPLE, end="")
    return 0


def try_rules(arguments: Namespace) -> int:
    """
    Print what the rules of a file would have caught.

    Raises:
        CommandError: the file cannot be read, or has rules that are not valid.
        DatabaseUnavailable: the database does not answer.
        WrongSetting: there is none.
    """
    from server.cli import database, rule_trials  # slow to import

    try:
        tried = rules.read(arguments.file)
    except WrongRules as fault:
        raise CommandError(str(fault)) from fault
    except OSError as fault:
        raise CommandError(f"{arguments.file}: {fault.strerror}") from fault
    return database.run_action(read_settings(), partial(rule_trials.report, tried), must_exist=True)
