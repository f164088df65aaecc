"""Commands that are sent again and again, with the bytes that they are sent as."""

import hiredis


class Packed(tuple[str | int | float, ...]):
    """A command that is packed once."""

    text: bytes


def packed(command: tuple[str | int | float, ...]) -> Packed:
    made = Packed(command)
    made.text = text_of(command)
    return made


def text_of(command: tuple[str | int | float, ...]) -> bytes:
    """A command as servers take it."""
    if isinstance(command, Packed):
        return command.text
    text: bytes = hiredis.pack_command(command)  # type: ignore[arg-type]  # its stubs say less than it takes
    return text
