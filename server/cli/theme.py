"""The command `theme`: prints a built-in theme, from which to make one's own."""

import sys
from argparse import ArgumentParser, Namespace

from server.branding import themes


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", choices=themes.names(), help="its name; without one, all names are printed")


def run(arguments: Namespace) -> int:
    if arguments.name is None:
        print("\n".join(themes.names()))
    else:
        sys.stdout.write((themes.THEMES / f"{arguments.name}.css").read_text(encoding="utf-8"))
    return 0
