"""
Backups with a right checksum and wrong contents: each is refused in one line, and nothing is restored.

A backup is made of frames of JSON. The first has the header, a dictionary of settings of the store; the others have
lists of records, each a list that begins with the kind of the record.
"""

import copy
import json
import random
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from server.cli import backup_file
from server.cli.backup import back_up
from server.cli.backup_file import COUNT, LENGTH, MAGIC
from server.cli.main import main
from server.settings import Settings
from store import keys

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers

Backup = tuple[dict[str, Any], list[Any]]  # header and records
DIGEST = "0" * 64  # as long as a SHA-256 in hexadecimal
IN_2100 = 4_102_444_800_000  # unix milliseconds


@pytest.fixture
def backup(filled: Settings, tmp_path: Path) -> Backup:
    """Header and records of a backup, one of each kind and some more."""
    file = tmp_path / "whole"
    assert back_up(filled, file) == 0
    with backup_file.checked(file) as found:
        records = [record for some in found.records() for record in some]
    kinds = {record[0]: record for record in records}
    kinds["ranking"] = ["ranking", "score time", {"show": "vote_score=100.0"}]
    kinds["serverkeys"] = ["serverkeys", {"shop": f"{DIGEST} 1470311520000"}]
    kinds["posted"] = ["posted", "user-1", DIGEST, f"{kinds['article'][1]} 1470311520000 {DIGEST}", IN_2100]
    kinds["session"] = [
        "session",
        DIGEST,
        "user-1",
        IN_2100,
        "site=0",
        1_470_000_000_000,
        f"{DIGEST[:32]} 1 curl",
    ]
    ban = {
        "kind": "ban",
        "at": "1470311520000",
        "moderator": "user-2",
        "subject": "user:user-1",
        "reason": "a reason",
    }
    kinds["action"] = ["action", keys.SLOTS * 2**38 + keys.slot("user-1"), ban]
    sequences = kinds.pop("sequences")
    return found.header, [*kinds.values(), *records[:5], sequences]


@pytest.fixture
def restore(empty: Settings, tmp_path: Path, monkeypatch, capsys) -> "Callable[[Backup], tuple[int, list[str]]]":
    """A function that restores a header and records, and returns what `run` does."""
    monkeypatch.setenv("UPVOTE_REDIS_URL", empty.redis_url or "")
    capsys.readouterr()

    def restore(forged: Backup) -> tuple[int, list[str]]:
        header, records = forged
        with backup_file.writing(tmp_path / "forged", header) as writing:
            for record in records:
                writing.add(record)
        return run(tmp_path / "forged", capsys)

    return restore


def run(file: Path, capsys) -> tuple[int, list[str]]:
    """The exit code of the command, and the lines of its errors."""
    code = main(["restore", str(file)])
    return code, capsys.readouterr().err.splitlines()


def contents(settings: Settings) -> list[str]:
    """The keys of a store, from which they are removed, so that it is empty again."""
    with Redis.from_url(settings.redis_url, decode_responses=True) as redis:
        found = redis.keys()
        redis.flushdb()
    return found


HEADERS = {  # what is changed in the header, and a part of the message
    "no partitions": ({"partitions": None}, "the header has no partitions"),
    "partitions 0": ({"partitions": "0"}, "the header has partitions '0': Input should be greater than"),
    "partitions 3": ({"partitions": 3}, "the header has partitions 3: must be a power of two"),
    "partitions 2048": ({"partitions": "2048"}, "the header has partitions '2048': Input should be less than"),
    "partitions -8": ({"partitions": "-8"}, "the header has partitions '-8': "),
    "partitions of text": ({"partitions": "many"}, "the header has partitions 'many': Input should be a valid integer"),
    "partitions of a list": ({"partitions": []}, "the header has partitions []: Input should be a valid integer"),
    "other partitions": ({"partitions": "16"}, "8 sequences for 16 partitions"),
    "no good_votes": ({"good_votes": None}, "the header has no good_votes"),
    "good_votes 0": ({"good_votes": "0"}, "the header has good_votes '0'"),
    "vote_score nan": ({"vote_score": "nan"}, "the header has vote_score 'nan': Input should be a finite number"),
    "best_z of an object": ({"best_z": {}}, "the header has best_z {}"),
    "long text": ({"hot_seconds": "x" * 10**6}, "the header has hot_seconds 'xxx"),
}


@pytest.mark.parametrize("forged", HEADERS)
def test_header_that_no_store_can_be_made_with_is_refused(backup, restore, empty, forged):
    header, message = HEADERS[forged]
    code, errors = restore(({**backup[0], **header}, backup[1]))

    assert (code, len(errors), contents(empty)) == (2, 1, [])
    assert message in errors[0] and len(errors[0]) < 500


NUMBER = 2**53  # higher than that of any article
ACTION = {"kind": "lock", "at": "1", "moderator": "ab", "subject": "article:1024", "reason": ""}
RECORDS: dict[str, tuple[object, str]] = {  # a record, and a part of the message
    "no list": ("article", "a record is a list with its kind first, not 'article'"),
    "empty": ([], "a record is a list with its kind first, not []"),
    "no kind": ([1], "there is no kind of record 1"),
    "kind that is a list": ([[]], "there is no kind of record []"),
    "unknown kind": (["story", 1], "there is no kind of record 'story'"),
    "too few parts": (["article", 1773], "article: a record of this kind has 4 parts, not 1"),
    "too many parts": (["user", {}, {}], "user: a record of this kind has 1 parts, not 2"),
    "part of another type": (["article", "1773", {}, [], []], "article: part 1 is a whole number, not '1773'"),
    "true": (["article", True, {}, [], []], "article: part 1 is a whole number, not True"),
    "number too high": (
        ["article", NUMBER, {}, [], []],
        f"article {NUMBER}: {NUMBER} is no number of an article, a comment or an action",
    ),
    "number too low": (["article", 0, {}, [], []], "article 0: 0 is no number of an article, a comment or an action"),
    "fields missing": (["article", 1773, {}, [], []], "article 1773: it has no title"),
    "too many fields": (["article", 1773, {str(n): "" for n in range(9_000)}, [], []], "it has 9000 fields"),
    "no orders": (["ranking", "", {}], "ranking: '' are no orders; there are score, time"),
    "unknown order": (["ranking", "score newest", {}], "ranking: 'score newest' are no orders"),
    "group's name": (["ranking", "score", {"a b": "best_z=1"}], "ranking of group 'a b': 'a b' is no usable name"),
    "weight": (["ranking", "score", {"show": "votes=1"}], "ranking of group 'show': 'votes=1' are no weights"),
    "infinite weight": (["ranking", "score", {"show": "best_z=1e999"}], "'best_z=1e999' are no weights"),
    "no server keys": (["serverkeys", {}], "serverkeys: there are none"),
    "server key's name": (["serverkeys", {"A": f"{DIGEST} 1"}], "server key 'A': 'A' is no usable name"),
    "server key": (["serverkeys", {"shop": "secret"}], "server key 'shop': 'secret' is no usable value"),
    "story's number": (["imported", {"1": "x"}], "imported story '1': 'x' is no usable number"),
    "story's number 0": (["imported", {"1": "0"}], "imported story '1': '0' is no usable number"),
    "time of a follow": (["follows", "bob", {"alice": "now"}], "follows of 'bob': 'now' is no usable time of alice"),
    "followee": (["follows", "bob", {"a:b": 1}], "follows of 'bob': 'a:b' is no usable followee"),
    "name": (["user", {"name": "a b", "joined": "1"}], "user 'a b': 'a b' is no usable name"),
    "joined": (["user", {"name": "ab", "joined": "then"}], "user 'ab': 'then' is no usable joined"),
    "seen": (["user", {"name": "ab", "joined": "1", "seen": "much"}], "user 'ab': 'much' is no usable seen"),
    "digest": (["posted", "bob", "x", "1773 1 ab", 1], "posted by 'bob': 'x' is no usable digest"),
    "post": (["posted", "bob", DIGEST, "", 1], "posted by 'bob': '' is no usable value"),
    "end of a session": (["session", DIGEST, "bob", -1, "", 0, ""], "session of 'bob': -1 is no usable end"),
    "bans of a session": (["session", DIGEST, "bob", 1, "site", 0, ""], "session of 'bob': 'site' is no usable bans"),
    "last use of a session": (["session", DIGEST, "bob", 1, "", -1, ""], "session of 'bob': -1 is no usable last use"),
    "details of a session": (["session", DIGEST, "bob", 1, "", 0, "x"], "session of 'bob': 'x' is no usable details"),
    "roles": (["user", {"name": "ab", "joined": "1", "roles": "king=1"}], "user 'ab': 'king=1' is no usable roles"),
    "bans": (["user", {"name": "ab", "joined": "1", "bans": "site=x"}], "user 'ab': 'site=x' is no usable bans"),
    "action": (["action", 1773, {}], "action 1773: it has no kind"),
    "kind of an action": (["action", 1773, ACTION | {"kind": "odd"}], "action 1773: 'odd' is no usable kind"),
    "subject": (["action", 1773, ACTION | {"subject": "group:a"}], "action 1773: 'group:a' is no usable subject"),
    "slot": (["action", 1773, ACTION], "action 1773: it is not of the slot of article:1024"),
    "sequence": (["sequences", [-1]], "sequences: -1 is none of 0 to"),
    "sequences": (["sequences", [1, 2, 3]], "sequences: 3 is no power of two up to 1024"),
}
FIELDS = {  # of an article, with values that they cannot have
    "title": "",
    "poster": "a b",
    "time": "1e9",
    "up": "9" * 400,
    "down": "-1",
    "groups": "A|B",
    "imported": "some",
    "edited": "",
    "link": 1,
    "content": None,
}


@pytest.mark.parametrize("forged", RECORDS)
def test_malformed_record_is_refused(backup, restore, empty, forged):
    record, message = RECORDS[forged]
    code, errors = restore((backup[0], [*backup[1][:2], record, *backup[1][2:]]))

    assert (code, len(errors), contents(empty)) == (2, 1, [])
    assert "record 3 of frame 2: " in errors[0] and message in errors[0]


@pytest.mark.parametrize("field", FIELDS)
def test_malformed_field_of_an_article_is_refused(backup, restore, empty, field):
    record = copy.deepcopy(next(record for record in backup[1] if record[0] == "article"))
    record[2][field] = FIELDS[field]
    code, errors = restore((backup[0], [record, *backup[1]]))

    assert (code, len(errors), contents(empty)) == (2, 1, [])
    assert f"record 1 of frame 2: article {record[1]}: " in errors[0] and f" is no usable {field}" in errors[0]


def test_backup_without_its_sequences_is_refused(backup, restore, empty):
    code, errors = restore((backup[0], backup[1][:-1]))

    assert (code, contents(empty)) == (2, [])
    assert errors[0].endswith("it has 0 records of sequences instead of one")


JUNK = [None, True, 0, -1, 2**53, 2**63, 1.5, "", "x", "\0", "a b", "\ud7ff" * 70, "9" * 5_000, [], [[]], {}]


@pytest.mark.parametrize("seed", range(4))
def test_anything_changed_anywhere_is_refused_in_one_line_or_restored(backup, restore, empty, seed):
    """What is restored after all is a change that a store may have."""
    chance, refused = random.Random(seed), 0
    for _ in range(60):
        header, records = forged = copy.deepcopy(backup)
        change(chance, chance.choice([header, records, records, records]))
        code, errors = restore(forged)
        restored = contents(empty)
        assert (code, errors) == (0, []) if restored else (code, len(errors)) == (2, 1), (errors, restored)
        refused += code == 2

    assert refused > 20


def change(chance: random.Random, thing: Any) -> None:
    """Put junk in place of something, take something away, or put something twice, at any depth."""
    places = list(thing) if isinstance(thing, dict) else list(range(len(thing)))
    place = chance.choice(places)
    if isinstance(thing[place], dict | list) and thing[place] and chance.random() < 0.8:
        return change(chance, thing[place])
    doing = chance.randrange(4)
    if doing == 0:
        del thing[place]
    elif doing == 1 and isinstance(thing, list):
        thing.insert(chance.choice(places), thing[place])
    elif doing == 2 and isinstance(thing, dict):
        thing[chance.choice(["x", "", "partitions", "time", "a:b", "é"])] = thing.pop(place)
    else:
        thing[place] = chance.choice(JUNK)
    return None


def frame(text: bytes) -> bytes:
    """A frame of a backup: its length and deflated JSON. After the last one come the length 0 and their count."""
    deflated = zlib.compress(text)
    return LENGTH.pack(len(deflated)) + deflated


HEADER = frame(json.dumps([{"partitions": "1", "good_votes": "200"}]).encode())
END = LENGTH.pack(0)
FRAMES = {  # what is between the first line of a file and its checksum, and a part of the message
    "nothing": (b"", " was changed or cut off"),
    "no frame": (END + COUNT.pack(0), ": frame 1 is not a header"),
    "empty header": (frame(b"[]") + END + COUNT.pack(1), ": frame 1 is not a header"),
    "header that is a list": (frame(b"[[]]") + END + COUNT.pack(1), ": frame 1 is not a header"),
    "header that is text": (frame(b'"[]"') + END + COUNT.pack(1), ": frame 1 is not an array of records"),
    "nothing deflated": (HEADER + LENGTH.pack(3) + b"abc" + END + COUNT.pack(2), ": frame 2 cannot be inflated: "),
    "half a frame": (
        HEADER + LENGTH.pack(4) + zlib.compress(b"[]")[:4] + END + COUNT.pack(2),
        ": frame 2 ends at the wrong byte",
    ),
    "two in one": (
        HEADER + LENGTH.pack(20) + zlib.compress(b"[]") + zlib.compress(b"[]")[:10] + END + COUNT.pack(2),
        ": frame 2 ends at the wrong byte",
    ),
    "no JSON": (HEADER + frame(b"[1,") + END + COUNT.pack(2), ": frame 2 is not JSON: "),
    "not UTF-8": (HEADER + frame(b'["\xff"]') + END + COUNT.pack(2), ": frame 2 is not JSON: "),
    "deep": (HEADER + frame(b"[" * 10**6 + b"]" * 10**6) + END + COUNT.pack(2), ": frame 2 is not JSON: "),
    "an object": (HEADER + frame(b"{}") + END + COUNT.pack(2), ": frame 2 is not an array of records"),
    "a long length": (HEADER + LENGTH.pack(2**32 - 1) + COUNT.pack(2), ": frame 2 is longer than the file"),
    "another count": (HEADER + frame(b"[]") + END + COUNT.pack(9), ": it should have 9 frames, but has 2"),
    "more after the end": (HEADER + frame(b"[]") + END + b"more" + COUNT.pack(2), ": it should have "),
}


@pytest.mark.parametrize("forged", FRAMES)
def test_file_that_is_not_made_of_frames_is_refused(empty, tmp_path, monkeypatch, capsys, forged):
    parts, message = FRAMES[forged]
    file = tmp_path / "forged"
    file.write_bytes(MAGIC + parts + sha256(MAGIC + parts).digest())
    monkeypatch.setenv("UPVOTE_REDIS_URL", empty.redis_url or "")
    code, errors = run(file, capsys)

    assert (code, len(errors), contents(empty)) == (2, 1, [])
    assert errors[0].startswith(f"upvote: {file}") and message in errors[0]


def test_frame_that_inflates_without_end_is_refused(empty, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("server.cli.backup_file.MAX_FRAME_BYTES", 10**6)
    parts = HEADER + frame(b"[" + b" " * 10**7 + b"]") + END + COUNT.pack(2)
    (tmp_path / "forged").write_bytes(MAGIC + parts + sha256(MAGIC + parts).digest())
    monkeypatch.setenv("UPVOTE_REDIS_URL", empty.redis_url or "")
    code, errors = run(tmp_path / "forged", capsys)

    assert (code, contents(empty)) == (2, [])
    assert "frame 2 ends at the wrong byte, or is larger than 1,000,000 bytes" in errors[0]
