"""Applies the patches of docs/extending.md to a copy of the project, one after the other, and runs their tests."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "extending.md"
PACKAGES = ("archive", "caches", "database", "engine", "resolvers", "schema", "server", "store", "tests")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", "static", "clients", "soak")
DUMPS = "tests/store/maintenance/test_dump_and_restore.py"
# files that bookmarks.patch, the patch of a new list, may change; the printed contract and the table of keys are
# generated, and not in it
MOST_FILES = 7
AFFECTED = (  # tests that fail if a patch leaves something out
    "tests/schema/test_contract.py",
    "tests/store/test_kinds.py",
    "tests/test_layers.py",
    f"{DUMPS}::test_records_are_those_that_are_declared",
    f"{DUMPS}::test_restored_store_has_the_kinds_that_are_declared_so",
    f"{DUMPS}::test_restored_store_is_the_same_but_for_sessions_pins_and_limits",
    f"{DUMPS}::test_other_number_of_partitions_changes_neither_ids_nor_orders",
    "tests/store/test_scripts.py",
)


@pytest.mark.slow
@pytest.mark.timeout(600)  # it runs some hundred tests in the copy
def test_patches_of_the_page_apply_and_their_tests_pass(tmp_path):
    copy = copied(tmp_path / "upvote")
    patches = re.findall(r"\(extending/(\w+\.patch)\)", PAGE.read_text())
    for patch in patches:
        run(copy, "git", "apply", "-C1", str(PAGE.with_suffix("") / patch))
    contract = run(copy, sys.executable, "-m", "server", "schema")
    (copy / "schema" / "schema.graphql").write_text(contract)

    added = re.findall(r"^\+\+\+ b/(tests/.*/test_\w+\.py)$", "".join(map(text_of, patches)), re.MULTILINE)
    assert [Path(test).name for test in added] == ["test_word_count.py", "test_bookmarks.py"]
    run(copy, sys.executable, "-m", "pytest", "-x", "-q", *added, *AFFECTED)


def test_new_list_takes_at_most_seven_files_and_the_page_names_them():
    files = re.findall(r"^diff --git a/(\S+)", text_of("bookmarks.patch"), re.MULTILINE)
    named = re.findall(r"^\| `(.+?)` \|", PAGE.read_text(), re.MULTILINE)

    assert len(files) <= MOST_FILES
    assert sorted(named) == sorted(files)


def test_all_patches_are_shown_on_the_page():
    shown = re.findall(r"\(extending/(\w+\.patch)\)", PAGE.read_text())

    assert sorted(shown) == sorted(path.name for path in PAGE.with_suffix("").glob("*.patch"))


def test_code_of_the_page_is_that_of_the_patch():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    shown = [line for line in block.splitlines() if line.strip() not in ("", "...")]
    added = re.findall(r"^\+(.*)", text_of("word_count.patch"), re.MULTILINE)

    assert set(shown) <= {*added, *(ROOT / "schema" / "articles.py").read_text().splitlines()}


def copied(folder: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=LEFT_OUT)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def text_of(patch: str) -> str:
    return (PAGE.with_suffix("") / patch).read_text()


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
