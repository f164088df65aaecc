"""Rows of the metrics that a server shows: values by name, such as `upvote_open_connections{worker="1"}`."""


def of(name, **labels):
    """A row's name, with its labels in alphabetical order."""
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in sorted(labels.items())) + "}"


def family(shown, prefix):
    """Those of the shown rows whose names begin with a prefix."""
    return {name: value for name, value in shown.items() if name.startswith(prefix)}
