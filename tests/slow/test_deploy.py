"""
The files of deploy/ besides those of proxies. Linters read them, and what a machine without Docker can run is run: the
image is built by buildah and run by systemd-nspawn, the unit by systemd.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.managed_valkey import compaction, disk, supervisor
from server.supervisor import SHUTDOWN_SECONDS, STOP_SECONDS
from tests import containers, programs
from tests.containers import Container, Image
from tests.database.conftest import postgres, postgres_url  # noqa: F401  # fixtures
from tests.server.conftest import POST, REGISTER
from tests.servers import PATIENCE, Server, free_port, until
from tests.servers import running as running_servers

ROOT = Path(__file__).parents[2]
DEPLOY, PAGE = ROOT / "deploy", ROOT / "docs" / "deploy.md"
CONTAINERFILE, COMPOSE, UNIT = DEPLOY / "Containerfile", DEPLOY / "compose.yaml", DEPLOY / "upvote.service"
USER_ID = "10001"  # of the user, and of the group, as which the image runs
VARIABLES = {"POSTGRES_PASSWORD": "secret", "UPVOTE_DOMAIN": "news.example", "UPVOTE_ADMIN": "founder"}
# ${NAME:-default} or ${NAME:?message}, as the compose file has them
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}")
WITHOUT_CAPABILITIES = r"CapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\n"
BOOT = ("systemd.unit=basic.target", "systemd.firstboot=off")  # arguments of the systemd that boots in a container
PACKAGES = ("archive", "caches", "database", "engine", "resolvers", "schema", "server", "store")

pytestmark = [pytest.mark.one_server, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Image]:
    wheels = containers.downloaded_wheels(pytestconfig)
    with containers.built_image(CONTAINERFILE, tmp_path_factory.mktemp("image"), wheels) as image:
        yield image


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The compose file, with the variables that deploy/.env has at least."""
    text = VARIABLE.sub(lambda found: VARIABLES.get(found[1], found[2] or ""), COMPOSE.read_text())
    return yaml.safe_load(text)


@pytest.mark.parametrize("added", ["", "RUN cd /tmp && pip install requests\n"])
def test_linter_finds_only_the_added_fault_in_the_containerfile(added):
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), "-"],
        input=CONTAINERFILE.read_text() + added,
        capture_output=True,
        text=True,
    )

    assert (done.returncode == 0) is not bool(added), done.stdout


@pytest.mark.parametrize("added", ["", "    healthchek: {}\n"])
def test_compose_file_follows_the_specification(tmp_path, added):
    image = "    image: caddy:2\n"
    (tmp_path / "compose.yaml").write_text(COMPOSE.read_text().replace(image, image + added))
    flags = ("--builtin-schema", "vendor.compose-spec", str(tmp_path / "compose.yaml"))
    done = subprocess.run([sys.executable, "-m", "check_jsonschema", *flags], capture_output=True, text=True)

    assert (done.returncode == 0) is not bool(added), done.stdout


def test_only_proxy_and_server_are_reachable_and_no_password_is_in_the_file(compose):
    services, networks = compose["services"], compose["networks"]
    published = {name: service.get("ports", []) for name, service in services.items()}
    inner = {name for name, network in networks.items() if network.get("internal")}

    assert published == {
        "proxy": ["80:80", "443:443"], "server": ["127.0.0.1:8000:8000"], "backups": [], "store": [], "database": []
    }  # fmt: skip
    assert [services[name]["networks"] for name in ("store", "database")] == [["store"], ["database"]]
    assert inner == {"store", "database"}
    assert set(services["server"]["networks"]) == set(networks)
    assert all(f"${{{name}:?" in COMPOSE.read_text() for name in VARIABLES)
    assert "secret" not in COMPOSE.read_text()
    proxies = services["server"]["environment"]["UPVOTE_TRUSTED_PROXIES"].split(",")
    gateway = networks["front"]["ipam"]["config"][0]["gateway"]
    assert proxies == [gateway, services["proxy"]["networks"]["front"]["ipv4_address"]]


def test_no_other_container_gets_the_address_of_the_proxy(compose):
    """Docker gives the server, which starts first, the first free address of the range."""
    (addresses,) = compose["networks"]["front"]["ipam"]["config"]
    proxy = ip_address(compose["services"]["proxy"]["networks"]["front"]["ipv4_address"])

    assert proxy in ip_network(addresses["subnet"])
    assert proxy not in ip_network(addresses["ip_range"])
    assert ip_network(addresses["ip_range"]).subnet_of(ip_network(addresses["subnet"]))


def test_proxy_of_the_compose_file_serves_the_domain_from_the_server(compose):
    """The Caddyfile that the compose file gives the proxy, with the variables that it sets."""
    proxy = compose["services"]["proxy"]
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in proxy["volumes"]
    adapt = (programs.program("caddy"), "adapt", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile"))
    done = subprocess.run(adapt, capture_output=True, text=True, env=os.environ | proxy["environment"], check=True)

    assert '"host":["news.example"]' in done.stdout
    assert '"upstreams":[{"dial":"server:8000"}]' in done.stdout


def test_backups_are_made_each_day_by_the_command_of_the_image(compose, tmp_path):
    """Run with an `upvote` that notes its arguments, and a `sleep` that ends the loop of the command."""
    service = compose["services"]["backups"]
    for name, script in (("upvote", 'echo "$@" >> "$NOTES"'), ("sleep", 'echo "sleep $@" >> "$NOTES"; exit 9')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (command,) = service["command"]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "NOTES": str(tmp_path / "notes")}
    subprocess.run([*service["entrypoint"], "set -e; " + command.replace("$$", "$")], env=environment)

    backup, pause = (tmp_path / "notes").read_text().splitlines()
    assert re.fullmatch(r"backup /data/[A-Z][a-z]+day\.backup", backup)
    assert pause == "sleep 86400"
    assert service["environment"] == compose["services"]["server"]["environment"]


def test_services_start_in_order_and_keep_their_data(compose):
    services = compose["services"]
    volumes = [volume for service in services.values() for volume in service["volumes"]]
    mounted = {volume.partition(":")[0] for volume in volumes if not volume.startswith(".")}

    assert mounted == compose["volumes"].keys()
    assert services["server"]["depends_on"] == {
        name: {"condition": "service_healthy"} for name in ("store", "database")
    }
    assert all("healthcheck" in services[name] for name in ("store", "database"))
    assert [service["restart"] for service in services.values()] == ["unless-stopped"] * 5
    assert all(service["logging"]["options"].keys() == {"max-size", "max-file"} for service in services.values())
    assert seconds(services["server"]["stop_grace_period"]) > SHUTDOWN_SECONDS + STOP_SECONDS


def test_documented_restore_empties_the_store_and_the_database_and_keeps_the_backup(compose):
    _, restore = commands("Restore")
    removed = {name.partition("_")[2] for name in restore[1].removeprefix("docker volume rm ").split()}

    assert restore[1].count(f" {compose['name']}_") == len(removed)
    assert compose["volumes"].keys() - removed == {"backups", "certificates"}
    assert "backups:/data" in compose["services"]["server"]["volumes"]


def test_image_has_the_settings_of_the_containerfile(image):
    assert image.config["Entrypoint"] == ["upvote"]
    assert image.config["Cmd"] == ["serve"]
    assert image.config["User"] == f"{USER_ID}:{USER_ID}"
    assert image.config["StopSignal"] == "SIGTERM"
    assert (list(image.config["Volumes"]), list(image.config["ExposedPorts"])) == (["/data"], ["8000/tcp"])
    assert image.environment.items() >= {"UPVOTE_HOST": "0.0.0.0", "UPVOTE_DATA_DIR": "/data"}.items()
    assert image.config["Healthcheck"]["Test"][0] == "CMD"


def test_image_has_all_files_of_the_packages(image):
    installed = next((image.root / "opt/upvote/lib").glob("python*/site-packages"))
    missing = [path for path in package_files() if not (installed / path).exists()]

    assert len(package_files()) > 300
    assert missing == []
    assert not list((image.root / "build").glob("*"))


def test_server_of_the_image_runs_as_the_compose_file_says(image, compose, tmp_path, postgres, postgres_url):  # noqa: F811
    data, port, service = tmp_path / "data", free_port(), compose["services"]["server"]
    data.mkdir()
    data.chmod(0o777)
    with running_servers(store := valkey_of(compose, tmp_path / "valkey")):
        with store.client() as client:
            kept = client.config_get("append*") | client.config_get("save")
        assert kept.items() >= {"appendonly": "yes", "appendfsync": "everysec", "save": ""}.items()
        addresses = {"redis://store:6379": store.url, "postgresql://upvote:secret@database/upvote": postgres_url}
        settings = service["environment"] | {"UPVOTE_PORT": str(port), "PYTHONDONTWRITEBYTECODE": "", **containers.HOST}
        settings = {name: replaced(str(value), addresses) for name, value in settings.items()}
        flags = [f"--bind={data}:/data", f"--bind-ro={postgres.folder}"]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        with containers.running(
            image.root, *as_user(image), flags=flags + given(image.environment | settings)
        ) as container:
            until(lambda: is_up_to_date(port))
            assert is_healthy(image, port)
            assert re.search(WITHOUT_CAPABILITIES, status(container)) and "NoNewPrivs:\t1" in status(container)
            container.run("sh", "-c", "! touch /opt/upvote/file")
            title, database = post(port), re.findall(r"test_\d+", postgres_url)[0]
            until(lambda: postgres.execute("SELECT title FROM articles", database) == [(title,)])
            assert container.stop() == 0
        assert not is_healthy(image, port)


def test_unit_gives_the_server_time_to_stop():
    settings = unit()
    workers_and_streams = max(SHUTDOWN_SECONDS, STOP_SECONDS)
    to_disk = compaction.TIMEOUT_SECONDS + disk.FINAL_WRITE_SECONDS + supervisor.STOP_SECONDS

    assert seconds(settings["TimeoutStopSec"]) > workers_and_streams + to_disk
    assert settings["KillMode"] == "mixed"


def test_documented_installation_is_that_of_the_image():
    """So that the virtual environment of the image stands for that of the unit in the next test."""
    in_image = re.findall(r"pip --python \S+ (install .*)", CONTAINERFILE.read_text())
    documented = re.findall(r"^# /opt/upvote/bin/python -m pip (install .*)", PAGE.read_text(), re.MULTILINE)

    assert documented[:2] == in_image


def test_unit_is_verified_by_systemd(tmp_path):
    program = programs.program("systemd-analyze", "systemd")
    (tmp_path / "upvote.service").write_text(UNIT.read_text().replace("/opt/upvote/bin/upvote", sys.executable))
    done = subprocess.run([program, "verify", str(tmp_path / "upvote.service")], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_unit_runs_as_documented(image):
    port = free_port()
    (install, settings, (verify,)), ((backup,), *_) = commands("systemd"), commands("Back up")
    restore, _ = commands("Restore")
    with containers.running(image.root, *BOOT, boots=True, flags=[f"--bind-ro={ROOT}:/checkout"]) as container:
        until(lambda: is_booted(container))
        container.run("systemctl", "set-environment", *(f"{name}={value}" for name, value in containers.HOST.items()))
        for command in install:
            if "/opt/upvote" not in command:
                container.run("sh", "-ec", command)
            if command.endswith("/etc/upvote.env"):
                container.run("sh", "-c", f"echo UPVOTE_PORT={port} >> /etc/upvote.env")
        until(lambda: is_up_to_date(port))
        title = post(port)
        restricted = status(container, int(property_of(container, "MainPID")))
        for command in settings:
            container.run("sh", "-ec", command)
        until(lambda: is_up_to_date(port))
        for command in (verify, backup):
            container.run("sh", "-ec", command)
        later = post(port, "bob")
        for command in restore:
            container.run("sh", "-ec", command)
        until(lambda: is_up_to_date(port))
        feed = httpx.get(f"http://127.0.0.1:{port}/rss.xml").text
        assert (title in feed, later in feed) == (True, False)
        container.run("systemctl", "stop", "upvote.service")

        assert re.search(WITHOUT_CAPABILITIES, restricted)
        assert "NoNewPrivs:\t1" in restricted and "Seccomp:\t2" in restricted
        found = container.run("stat", "--format=%U %a", "/var/lib/upvote", "/var/lib/upvote.before/upvote.backup")
        assert found.splitlines() == ["upvote 700", "upvote 600"]
        assert (property_of(container, "Result"), property_of(container, "ExecMainStatus")) == ("success", "0")


def commands(title: str) -> list[list[str]]:
    """The commands of each block `console` in a section of the page."""
    section = re.split(rf"^## {title}$", PAGE.read_text(), maxsplit=1, flags=re.MULTILINE)[1].split("\n## ")[0]
    found = re.findall(r"^```console\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return [[line[2:] for line in block.splitlines()] for block in found]


def is_booted(container: Container) -> bool:
    with suppress(AssertionError):
        return container.run("systemctl", "is-active", "basic.target") == "active\n"
    return False


def property_of(container: Container, name: str) -> str:
    return container.run("systemctl", "show", "upvote.service", "--property", name, "--value").strip()


def status(container: Container, process: int = 1) -> str:
    """What the kernel says of a process of a container."""
    return container.run("cat", f"/proc/{process}/status")


def is_up_to_date(port: int) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/readyz").json().get("database") == "up to date"
    return False


def is_healthy(image: Image, port: int) -> bool:
    """Run the health check of an image outside of it."""
    _, program, *arguments = image.config["Healthcheck"]["Test"]
    assert program == "python"
    environment = {"UPVOTE_PORT": str(port)}
    return subprocess.run([sys.executable, *arguments], env=environment, stderr=subprocess.DEVNULL).returncode == 0


def post(port: int, username: str = "alice") -> str:
    """Register a user and post an article, and return its title."""
    url, title = f"http://127.0.0.1:{port}/graphql", f"Served to {username} from a container"
    token = ask(url, {"query": REGISTER.replace("alice", username)})["register"]["token"]
    ask(url, {"query": POST, "variables": {"title": title}}, Authorization=f"Bearer {token}")
    return title


def ask(url: str, request: dict[str, Any], **headers: str) -> Any:
    return httpx.post(url, json=request, headers=headers, timeout=PATIENCE).raise_for_status().json()["data"]


def as_user(image: Image) -> list[str]:
    """The command of an image, run as its user and without capabilities, as a container's engine does."""
    user, _, group = image.config["User"].partition(":")
    restrictions = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--clear-groups"]
    command = [*image.config["Entrypoint"], *image.config["Cmd"]]
    return ["/usr/bin/setpriv", f"--reuid={user}", f"--regid={group}", *restrictions, *command]


def given(environment: dict[str, str]) -> list[str]:
    return [f"--setenv={name}={value}" for name, value in environment.items()]


def valkey_of(compose: dict[str, Any], folder: Path) -> Server:
    """A Valkey with the arguments of the compose file, and with a file of settings that do not keep the data."""
    program, *flags = shlex.split(compose["services"]["store"]["command"])
    assert program == "valkey-server"
    return Server(folder, {"appendonly": "no", "save": "60 1"}, flags)


def replaced(text: str, parts: dict[str, str]) -> str:
    for was, new in parts.items():
        text = text.replace(was, new)
    return text


def package_files() -> list[Path]:
    """The files of the packages that Git has, without what the explorer is built from."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(line) for line in listed.splitlines() if not line.startswith("server/explorer/build/")]


def unit() -> dict[str, str]:
    parser = ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment]  # keeps the case of names
    parser.read(UNIT)
    return dict(parser["Service"])


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))
