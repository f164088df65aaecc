"""
The files by which operators make a site their own (logo, theme, pages), in backups: they are in the header, so that
earlier versions restore the rest of such a backup.
"""

import sys
from base64 import b64decode, b64encode
from pathlib import Path

from server.branding.files import bodies_of, most_bytes
from server.cli.backup_file import BrokenBackup, CheckedBackup
from server.settings import Settings

FILES = "site"  # the field of the header that has the files, in base64, by their names


def files_for_backup(settings: Settings) -> dict[str, dict[str, str]]:
    """
    What the header of a backup has of the site's folder, `{"site": {NAME: BASE64}}`; `{}` without files.

    Raises:
        OSError: the folder cannot be read.
    """
    bodies = bodies_of(settings.site_folder)
    return {FILES: {name: b64encode(body).decode() for name, body in bodies.items()}} if bodies else {}


def files_in(backup: CheckedBackup) -> dict[str, bytes]:
    """
    The contents of the site's files in a backup, by name.

    Raises:
        BrokenBackup: a name is not one of the site's files, or a file is not base64 or too large.
    """
    given = backup.header.get(FILES, {})
    try:
        files = {name: b64decode(body, validate=True) for name, body in given.items()}
    except (AttributeError, TypeError, ValueError):
        raise BrokenBackup(f"{backup.name}: the header has {FILES} that is not files in base64") from None
    if wrong := [name for name, body in files.items() if len(body) > most_bytes(name) or not most_bytes(name)]:
        raise BrokenBackup(f"{backup.name}: the header has a file of the site {wrong[0][:50]!r} that cannot be one")
    return files


def put_files(files: dict[str, bytes], folder: Path) -> None:
    """Write the files that the folder lacks. Existing files stay; those that differ are reported."""
    for name, body in files.items():
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        try:
            with path.open("xb") as file:
                file.write(body)
        except FileExistsError:
            if path.read_bytes() != body:
                print(f"kept {path}, which is not as in the backup", file=sys.stderr)
