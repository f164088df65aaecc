"""Runs the command line: `python -m server COMMAND`. Its first lines run on any Python 3 and without any dependency."""

import os
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUR_PACKAGES = ("archive", "caches", "database", "engine", "resolvers", "schema", "server", "store")


def main() -> int:
    """Run the command line. Without the dependencies, say in one line what to type instead."""
    if sys.version_info < (3, 11):  # noqa: UP036 - another Python may run this file
        return _refuse("Upvote needs Python 3.11 or newer, this is " + sys.version.split()[0])
    try:
        from server.cli.main import main as run

        return run()
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing in OUR_PACKAGES:  # a fault of this program
            raise
        return _refuse("this Python has no module " + missing)


def _refuse(reason: str) -> int:
    environment = os.path.join(ROOT, ".venv")
    program = os.path.join(environment, "bin", "upvote")
    command = " ".join(map(shlex.quote, [os.path.relpath(program), *sys.argv[1:]]))
    if not os.path.exists(program) or sys.prefix == environment:  # it is not installed, or not completely
        command = "make serve" if sys.argv[1:] in ([], ["serve"]) else "make serve, and then " + command
    sys.stderr.write("upvote: " + reason + ": type " + command + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
