"""
Containers for tests: the image of deploy/Containerfile, built by buildah, and systemd-nspawn, which runs it.

There is no registry: the base image has the programs of this machine in /usr and its Python in /python.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.servers import PATIENCE, until

ROOT = Path(__file__).parents[1]
BASE = "localhost/python:3.14-slim"  # the image that deploy/Containerfile begins with, without a registry
MOUNTED = {"/usr": "/usr", sys.base_prefix: "/python"}  # folders of this machine, and where containers have them
PATH = "/python/bin:/usr/bin:/bin:/usr/sbin:/sbin"  # of containers
BUILD = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels", "PIP_COMPILE": "0"}  # pip takes packages from /wheels only
# what the Python of this machine needs to run in a container
HOST = {
    "LD_LIBRARY_PATH": "/python/lib",
    "PYTHONPYCACHEPREFIX": "/bytecode",
}


@dataclass(frozen=True)
class Image:
    """A built image: its configuration as Docker has it, and a folder with its files, which may be changed."""

    root: Path
    config: dict[str, Any]

    @property
    def environment(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.config["Env"])


@dataclass(frozen=True)
class Container:
    """
    A running container. `leader` is the process that has the id 1 in it. Commands run in its folder /checkout, where
    `running` may mount one.
    """

    process: "subprocess.Popen[str]"
    leader: int

    def run(self, *command: str) -> str:
        """What a command prints that root runs in the container."""
        entered = [
            "nsenter",
            f"--target={self.leader}",
            "--mount",
            "--uts",
            "--ipc",
            "--pid",
            "--root",
            "env",
            "--chdir=/checkout",
        ]
        environment = {"PATH": PATH, "LANG": "C.UTF-8", **HOST}
        done = subprocess.run([*entered, *command], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def stop(self) -> int:
        """Stop it as `docker stop` does, and return the exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def built_image(containerfile: Path, folder: Path, wheels: Path) -> Iterator[Image]:
    """
    Build an image from a Containerfile, in the root of the repository.

    Skips the test if this machine has no buildah or may not run it.
    """
    require_containers()
    storage = ("--root", str(folder / "storage"), "--runroot", str(folder / "run"), "--storage-driver", "overlay")
    try:
        _make_base(storage, folder / "base")
        volumes = {**MOUNTED, str(wheels): "/wheels"}
        flags = [f"--volume={source}:{target}:ro" for source, target in volumes.items()]
        flags += ["--isolation=chroot", "--network=host", "--pull-never", "--layers=false", "--format=docker"]
        _buildah(storage, "bud", *flags, "--tag=upvote", f"--file={containerfile}", str(ROOT))
        container = _buildah(storage, "from", "--pull-never", "localhost/upvote")
        inspected = json.loads(_buildah(storage, "inspect", "--type=image", "localhost/upvote"))
        yield Image(Path(_buildah(storage, "mount", container)), inspected["Docker"]["config"])
    finally:
        _buildah(storage, "rm", "--all")
        _buildah(storage, "rmi", "--all", "--force")


@contextmanager
def running(root: Path, *command: str, boots: bool = False, flags: Sequence[str] = ()) -> Iterator[Container]:
    """
    Run a command as process 1 in the files of an image, in the network of this machine: read-only but for /tmp.

    With `boots`, process 1 is systemd, `command` has its arguments, and the files may be written.
    """
    (bytecode := root.parent / "bytecode").mkdir(0o777, exist_ok=True)
    bytecode.chmod(0o777)
    mounts = [f"--bind={bytecode}:/bytecode", *(f"--bind-ro={source}:{target}" for source, target in MOUNTED.items())]
    options = ["--register=no", "--keep-unit", "--timezone=off", "--resolv-conf=off"]
    options += [] if boots else ["--kill-signal=SIGTERM", "--read-only", "--tmpfs=/tmp:mode=1777"]
    nspawn = [
        programs.program("systemd-nspawn", "systemd-container"),
        "--quiet",
        f"--directory={root}",
        "--console=pipe",
    ]
    with (root.parent / "container.log").open("w") as log:
        process = subprocess.Popen(
            [*nspawn, *options, *mounts, *flags, *(["--boot"] if boots else []), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
        )
    try:
        until(lambda: process.poll() is not None or _leader_of(process.pid))
        assert process.poll() is None, (root.parent / "container.log").read_text()
        yield Container(process, _leader_of(process.pid))
    finally:
        _end(process)
        print((root.parent / "container.log").read_text(), file=sys.stderr)


def downloaded_wheels(config: pytest.Config) -> Path:
    """The packages of requirements.lock, kept until it changes."""
    assert config.cache
    lock = ROOT / "requirements.lock"
    folder = config.cache.mkdir(f"wheels-{sha256(lock.read_bytes()).hexdigest()[:16]}")
    if not (folder / "complete").exists():
        flags = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "--quiet", "--dest", str(folder))
        programs.run(sys.executable, "-m", "pip", "download", *flags, "--requirement", str(lock))
        (folder / "complete").touch()
    return folder


def require_containers() -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        programs.skip_or_fail("containers need root on Linux here")
    programs.program("buildah")
    programs.program("systemd-nspawn", "systemd-container")


def _end(nspawn: "subprocess.Popen[str]") -> None:
    """End a container. The first signal is lost if systemd is starting in it. The second one kills it."""
    for _ in range(2):
        nspawn.terminate()
        with suppress(subprocess.TimeoutExpired):
            nspawn.wait(PATIENCE / 2)


def _leader_of(nspawn: int) -> int:
    """The child of systemd-nspawn that has the id 1 in its container; 0 if there is none yet."""
    for child in Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split():
        with suppress(OSError):
            if re.search(r"^NSpid:\t\d+\t1$", Path(f"/proc/{child}/status").read_text(), re.MULTILINE):
                return int(child)
    return 0


def _make_base(storage: Sequence[str], folder: Path) -> None:
    """Make the base image: it has only what the programs of /usr, which is mounted, need besides."""
    for name in (
        "usr",
        "python",
        "wheels",
        "bytecode",
        "etc",
        "proc",
        "sys",
        "dev",
        "run",
        "tmp",
        "root",
        "opt",
        "checkout",
        "var/lib",
    ):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").chmod(0o1777)
    for name in ("bin", "sbin", "lib", "lib64"):
        (folder / name).symlink_to(f"usr/{name}")
    (folder / "etc/os-release").write_text("ID=upvote\n")
    (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (folder / "etc/group").write_text("root:x:0:\n")
    container = _buildah(storage, "from", "scratch")
    _buildah(storage, "copy", "--quiet", container, str(folder), "/")
    settings = {"PATH": PATH, "LD_LIBRARY_PATH": HOST["LD_LIBRARY_PATH"], **BUILD}
    _buildah(storage, "config", *(f"--env={name}={value}" for name, value in settings.items()), container)
    _buildah(storage, "commit", "--quiet", "--rm", container, BASE)


def _buildah(storage: Sequence[str], *command: str) -> str:
    done = subprocess.run(["buildah", *storage, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout.strip()
