"""The command `schema`: prints the contract."""

from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """It has none."""


def run(arguments: Namespace) -> int:
    from schema import schema

    print(schema.text(), end="")
    return 0
