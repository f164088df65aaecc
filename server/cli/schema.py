"""The command `schema`: prints the GraphQL schema, which is the contract with clients."""

from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """The command has no arguments."""


def run(arguments: Namespace) -> int:
    from schema import schema  # here: other commands need not wait until it is built

    print(schema.text(), end="")
    return 0
