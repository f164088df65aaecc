"""Rows of metrics."""


def of(name, **labels):
    """A row's name, with its labels in alphabetical order."""
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in sorted(labels.items())) + "}"


def family(shown, prefix):
    """The rows whose names begin alike."""
    return {name: value for name, value in shown.items() if name.startswith(prefix)}
