"""The processes of a running server."""

from pathlib import Path

from tests.server.conftest import Live


def processes_of(folder: Path) -> list[int]:
    """The processes whose UPVOTE_DATA_DIR is a folder, also those of a killed server."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"UPVOTE_DATA_DIR={folder}\0".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [process for process in found if _state(process) != "Z"]


def _state(process: int) -> str:
    return _stat(process)[0]


def _stat(process: int) -> list[str]:
    """The fields of a process after its name: state, parent and so on."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["Z", "0"]


def workers_of(live: Live, folder: Path) -> list[int]:
    """The worker processes of a server, which are its children that `multiprocessing` has spawned."""
    children = [process for process in processes_of(folder) if _stat(process)[1] == str(live.process.pid)]
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
