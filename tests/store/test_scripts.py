"""
The text of Lua scripts: the files that it is made of, as each file names those of `lib` that it requires in its head,
and the keys that it names, such as `KEY.inbox`.
"""

import re
from pathlib import Path

import pytest

from store.client.replication import READ_COMMANDS
from store.keys import SLOTS
from store.scripts import registry
from store.scripts.registry import FILES, Script, files_of
from tests.support import lua_names

ROOT = Path(__file__).parents[2]
CALLED = re.compile(r"redis\.call\(\s*\"([A-Z]+)\"")
LOCAL = re.compile(r"^local (?:function (\w+)|([\w, ]+))", re.MULTILINE)
READS_IN_SCRIPTS = {  # commands that change nothing and that only scripts use
    "HEXISTS",
    "HVALS",
    "SISMEMBER",
    "TIME",
    "XRANGE",
    "ZLEXCOUNT",
    "ZRANGEBYLEX",
    "ZREVRANGEBYLEX",
    "ZUNION",
}
SCRIPTS = sorted(name for name, path in FILES.items() if path.parent.name != "lib")


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes the files of scripts, each with a name and a text, beside those of the store."""

    def write(folder: str = "commands", **texts: str) -> None:
        (tmp_path / folder).mkdir(exist_ok=True)
        for name, text in texts.items():
            path = tmp_path / folder / f"{name}.lua"
            path.write_text(text)
            monkeypatch.setitem(registry.FILES, name, path)

    return write


def test_files_follow_those_that_they_require_each_once():
    assert files_of("vote") == ["formulas", "prelude", "annulled", "cast_vote", "upvoters", "vote"]
    assert files_of("delete_comment") == [
        "formulas", "prelude", "annulled", "flags", "appeals", "branch_paths", "few_replies", "mail_keys", "mails",
        "notify", "notifications", "recent_comments", "comments", "comment_tree", "held_edits", "pending_comments",
        "comment_removal", "delete_comment",
    ]  # fmt: skip


def test_missing_file_is_an_error():
    with pytest.raises(LookupError, match="there is no script votes"):
        Script("votes")


def test_file_that_requires_a_missing_one_is_an_error(written):
    written(wrong="-- Does nothing.\n-- requires: prelude, missing\nreturn 1\n")

    with pytest.raises(LookupError, match="there is no script missing, which wrong requires"):
        Script("wrong")


def test_files_that_require_each_other_are_an_error(written):
    written(first="-- requires: second\n", second="-- requires: third\n", third="-- requires: first\n")

    with pytest.raises(ValueError, match="scripts require each other: first -> second -> third -> first"):
        Script("first")


def test_requirements_stand_in_the_head_of_a_file_only(written):
    written(odd="-- Does nothing.\nreturn 1\n-- requires: missing\n")

    assert files_of("odd") == ["odd"]


def test_unknown_key_is_an_error(written):
    written(odd="return KEY.articles\n")

    with pytest.raises(LookupError, match="there is no kind of key articles"):
        Script("odd").beginning(0)


async def test_new_file_is_a_script_that_gets_the_keys_which_it_names(store, written):
    """
    A key without parts is whole; to others, such as the inboxes of users, the script adds the parts. Its own arguments
    begin at ARGV[7].
    """
    written(answer="-- requires: prelude\nreturn {actor(), KEY.inbox, KEY.moves, KEY.lease, KEY.events, ARGV[7]}\n")
    answer = Script("answer")
    partition = store.site.partitions - 1

    reply = await store.site.redis.run(store.site.command(answer, partition, "given", username="alice"))

    assert reply == [
        "alice",
        f"inbox:{{{partition}}}:",
        f"moves:{{{partition}}}",
        f"lease:{{{partition}}}:",
        f"events:{{{partition}}}",
        "given",
    ]
    # `mark_seen` has those of `prelude`, and `events`
    assert set(answer.key_names) - set(Script("mark_seen").key_names) == {"inbox", "moves", "lease"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_server_compiles_the_script(redis, name):
    """Lua limits the local names of a script and of what a function uses of it."""
    script = Script(name)

    assert redis.script_load(script.text) == script.digest
    assert len(script.beginning(0)) == 3 + len(script.key_names)  # EVALSHA, the digest, the number of keys


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_name_of_a_file_hides_that_of_another(name):
    named = [
        each.strip()
        for file in files_of(name)
        for function, names in LOCAL.findall(FILES[file].read_text())
        for each in (function or names).split(",")
    ]

    assert sorted(named) == sorted(set(named))


def test_number_of_slots_is_said_once_and_is_that_of_python():
    """Scripts calculate with `SLOTS`."""
    saying = [name for name, path in FILES.items() if str(SLOTS) in path.read_text()]

    assert saying == ["slots"]


@pytest.mark.parametrize("name", sorted(FILES))
def test_head_of_a_file_says_which_names_it_takes_from_others(name):
    renew = "renew the heads of scripts with `python -m tests.support.lua_names --write`"

    assert lua_names.with_lines(name) == FILES[name].read_text(), renew


def test_names_taken_are_those_that_a_file_does_not_define_itself(written):
    written(
        "lib",
        one="local SIZE, limit = 1, 2\nlocal function first(a, ...) return a end\n"
        "local t = {}\nfunction t.f(x) --> number | nil\nend\n",
        two="-- requires: one\nlocal function second(limit) return {SIZE = limit, first = x.first} end\n"
        "function t.g(y)\nend\n",
    )
    written(
        three='-- requires: two\n-- first(1)\nlocal x = {second("SIZE"), t.f(2), t.g(3)}\n'
        "for limit = 1, 2 do local first = limit end\nif x then local SIZE = 1 else x = limit end\nreturn x\n"
    )

    assert lua_names.taken("two") == {"one": ["t"]}
    assert lua_names.taken("three") == {"one": ["t.f(x) -> number | nil", "limit"], "two": ["second(limit)", "t.g(y)"]}
    assert lua_names.with_lines("three").splitlines()[:3] == [
        "-- requires: two",
        "-- from one: t.f(x) -> number | nil, limit",
        "-- from two: second(limit), t.g(y)",
    ]


def test_scripts_among_the_reads_change_nothing():
    reads = [name for name in SCRIPTS if FILES[name].parent.name == "reads"]
    used = {command for name in reads for command in CALLED.findall(Script(name).text)}

    assert all(Script(name).is_read_only for name in reads)
    assert not any(Script(name).is_read_only for name in SCRIPTS if name not in reads)
    assert used - READ_COMMANDS - READS_IN_SCRIPTS == set()


def test_each_script_is_used_and_each_file_of_the_library_required():
    sources = "".join(path.read_text() for room in ("store", "archive") for path in (ROOT / room).rglob("*.py"))
    required = {file for name in SCRIPTS for file in files_of(name)}

    assert [name for name in SCRIPTS if f'Script("{name}")' not in sources] == []
    assert FILES.keys() - required == set()


def test_names_of_files_are_unique():
    folder = ROOT / "store" / "scripts"

    assert sorted(FILES) == sorted(path.stem for path in folder.rglob("*.lua"))
