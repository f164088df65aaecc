"""Files of stories to import: CSV and JSON lines, right and wrong lines."""

import json

import pytest

from server.cli.story_file import BadLine, Notes, NotStories, in_order, read, with_groups
from store.maintenance.import_stories import Story

NOW = 1_470_311_520_000  # 2016-08-04T11:52:00Z
HEADER = "id,title,url,points,comments,author,created_at\n"
LINE = "7,A year of rivers,https://example.com/,5,2,Marlow,2016-08-04T11:52:00Z\n"
STORY = Story("7", "A year of rivers", link="https://example.com/", poster="Marlow", time=NOW, votes=5)
FIELDS = {
    "id": 7,
    "title": "A year of rivers",
    "url": "https://example.com/",
    "points": 5,
    "comments": 2,
    "author": "Marlow",
    "created_at": "2016-08-04T11:52:00Z",
}


@pytest.fixture
def found(tmp_path):
    """A function that writes a file, and returns what is read from it."""

    def found(content: str | bytes, name: str = "stories.csv") -> list[Story | BadLine]:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read(file, NOW))

    return found


def line(**changes: object) -> str:
    """The story as a line of JSON, with changes."""
    return json.dumps(FIELDS | changes) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        HEADER + LINE,
        "\ufeff" + HEADER + LINE,
        (HEADER + LINE).replace("\n", "\r\n"),
        (HEADER + LINE).replace("\n", "\r"),
        HEADER + LINE.rstrip(),
        HEADER + "\n\n" + LINE + "\n",
        "Author,ID, created_at ,points,title,text,url\n"
        'Marlow,7,2016-08-04T13:52:00+02:00,5," A year of rivers ","two\n""lines""",https://example.com/\n',
        HEADER + LINE.replace(":00Z", ""),
        line(),
        "\ufeff" + line(),
        line(id="7", points="5", extra=[1, {}]),
    ],
)
def test_story_is_read_from_csv_and_json_lines(found, content):
    assert found(content) == [STORY]


def test_json_lines_are_recognised_by_file_name(found):
    assert found("[]\n" + line(), "stories.jsonl") == [
        BadLine(1, "this is not a JSON object"),
        STORY,
    ]


def test_link_and_points_may_be_missing(found):
    content = "id,title,author,created_at\n7,A title,Marlow,1970-01-01\n"

    assert found(content) == [Story("7", "A title", link="", poster="Marlow", time=0, votes=1)]


@pytest.mark.parametrize("points", [0, -3, "0", "", None, 1])
def test_points_below_one_count_as_one(found, points):
    assert [story.votes for story in found(line(points=points))] == [1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": None}, "an id has 1 to 64 printable ASCII characters"),
        ({"id": "a b"}, "an id has 1 to 64 printable ASCII characters"),
        ({"id": "x" * 65}, "an id has 1 to 64 printable ASCII characters"),
        ({"id": True}, "id is neither text nor a number"),
        ({"title": ""}, "a title has 1 to 300 characters, this one 0"),
        ({"title": None}, "a title has 1 to 300 characters, this one 0"),
        ({"title": ["A title"]}, "title is neither text nor a number"),
        ({"title": "x" * 301}, "a title has 1 to 300 characters, this one 301"),
        ({"title": "\0\x1b"}, "a title has 1 to 300 characters, this one 0"),
        ({"url": "javascript:alert(1)"}, "a link is an absolute http or https URL"),
        ({"url": "https://exa mple.com/"}, "a link is an absolute http or https URL"),
        ({"url": "https://example.com/" + "x" * 1981}, "a link has at most 2000 characters, this one 2001"),
        ({"title": "\u200b\u3164"}, "title has only blanks and invisible characters"),
        ({"title": "a\u202eb"}, "a title does not change the direction of text: U+202E at place 2"),
        ({"url": "https://alice:secret@example.com/"}, "a link has no username and no password"),
        ({"author": "a"}, "a username is 2 to 20 of A-Z, a-z, 0-9, _ and -"),
        ({"author": "Zoë"}, "a username is 2 to 20 of A-Z, a-z, 0-9, _ and -"),
        ({"author": None}, "a username is 2 to 20 of A-Z, a-z, 0-9, _ and -"),
        ({"points": "many"}, "points is not a whole number up to 1000000"),
        ({"points": 1.5}, "points is not a whole number up to 1000000"),
        ({"points": "٣"}, "points is not a whole number up to 1000000"),
        ({"points": 1_000_001}, "points is not a whole number up to 1000000"),
        ({"points": "9" * 5000}, "points is not a whole number up to 1000000"),
        ({"created_at": "yesterday"}, "created_at is not a date and time like 2016-08-04T11:52:00Z"),
        ({"created_at": None}, "created_at is not a date and time like 2016-08-04T11:52:00Z"),
        ({"created_at": "2016-02-30T00:00:00Z"}, "created_at is not a date and time like 2016-08-04T11:52:00Z"),
        ({"created_at": "1969-12-31T23:59:59Z"}, "created_at is before 1970 or in the future"),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "created_at is before 1970 or in the future"),
        ({"created_at": "2016-08-04T11:52:00.001Z"}, "created_at is before 1970 or in the future"),
    ],
)
def test_invalid_line_is_reported_and_the_others_are_read(found, changes, reason):
    assert found(line(**changes) + line()) == [BadLine(1, reason), STORY]


@pytest.mark.parametrize(
    ("changes", "title", "link"),
    [
        ({"title": "a\0b"}, "ab", STORY.link),
        ({"title": "\x1b[31mred"}, "[31mred", STORY.link),
        ({"title": "a\r\nb\u2028c\x85d"}, "a b c d", STORY.link),
        ({"title": "of up to \xc2\x8013B\x9f"}, "of up to \xc213B", STORY.link),
        ({"url": "https://example.com/r\xc2\x85in\n"}, STORY.title, "https://example.com/r\xc2in"),
        ({"title": "a\tb", "url": "https://exam\x7fple.com/"}, "a b", STORY.link),
    ],
)
def test_control_characters_are_removed_from_titles_and_links(tmp_path, changes, title, link):
    file, notes = tmp_path / "stories.jsonl", Notes()
    file.write_text(line() + line(**changes, id=8) + line(**changes, id=8) + line(**changes, points="many"))
    first, story, *bad = read(file, NOW, notes)

    assert (first, (story.title, story.link)) == (STORY, (title, link))
    assert [each.number for each in bad] == [3, 4]
    assert notes.cleaned == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("7,A title\n", "it has 2 columns, the first line has 7"),
        (LINE.replace("\n", ",more\n"), "it has 8 columns, the first line has 7"),
        ("complete nonsense\n", "it has 1 columns, the first line has 7"),
        (LINE.replace("A year", '"A" year'), "',' expected after '\"'"),
    ],
)
def test_bad_line_of_csv_is_reported_and_the_others_are_read(found, content, reason):
    assert found(HEADER + content + LINE) == [BadLine(2, reason), STORY]


@pytest.mark.parametrize("place", ["A year", "https", "5,2", "Marlow", "2016"])
def test_unclosed_quotation_mark_makes_only_its_line_bad(found, place):
    unclosed = LINE.replace(place, f'"{place}')
    others = [LINE.replace("7", str(n), 1) for n in range(10, 15)]

    first, *rest = found(HEADER + "".join(others[:2]) + unclosed + "".join(others[2:]))[2:]

    assert isinstance(first, BadLine)
    assert first.number == 4
    assert [story.id for story in rest] == ["12", "13", "14"]


def test_two_unclosed_quotation_marks_make_only_their_lines_bad(found):
    unclosed = LINE.replace("A year", '"A year')

    bad = found(HEADER + unclosed + LINE + unclosed + LINE.replace("7", "8", 1))

    assert [each.number if isinstance(each, BadLine) else each.id for each in bad] == [2, "7", 4, "8"]


def test_numbers_of_lines_count_quoted_newlines(found):
    quoted = LINE.replace("A year of rivers", '"\nA year of rivers\n"')

    assert found(HEADER + quoted + "nonsense\n") == [STORY, BadLine(5, "it has 1 columns, the first line has 7")]


def test_bytes_that_are_not_utf_8_are_reported(found):
    bad = LINE.encode().replace(b"A year", b"A y\xe9ar")

    assert found(HEADER.encode() + bad + LINE.encode()) == [
        BadLine(2, "title has a character that is not allowed at place 4"),
        STORY,
    ]


@pytest.mark.parametrize(
    "text", ["{", "[]", '"7"', '{"id": NaN}', line(title="a").replace('"a"', '"\\ud800"'), "[" * 99_999]
)
def test_line_that_is_not_a_json_object_is_reported(found, text):
    bad, story = found(line() + text.rstrip("\n") + "\n" + line(id=8))[1:]

    assert bad.number == 2
    assert bad.reason.startswith("this is not ")
    assert story.id == "8"


def test_second_story_with_the_same_id_is_reported(found):
    assert found(line() + line(title="Another")) == [STORY, BadLine(2, "line 1 has the same id")]


def test_id_of_a_bad_line_may_be_used_again(found):
    assert found(line(title="") + line())[1] == STORY


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\x89PNG\r\n\x1a\n\0\0", b"id,title\n7,x\n", b'"id', "id,title".encode("utf-16")]
)
def test_file_without_stories_is_refused(found, content):
    with pytest.raises(NotStories, match=r"^the first line"):
        found(content)


def test_stories_are_sorted_by_time_and_then_by_number():
    stories = [
        Story(id, "A title", link="", poster="Marlow", time=time, votes=1)
        for id, time in [("10", 5), ("9", 5), ("8", 6), ("11", 4)]
    ]

    assert [story.id for story in in_order(stories)] == ["11", "9", "10", "8"]


def grouped(*titles_and_links):
    """The groups of each story."""
    stories = [Story("7", title, link=link, poster="Marlow", time=0, votes=1) for title, link in titles_and_links]
    return [story.groups for story in with_groups(stories)]


@pytest.mark.parametrize(
    ("title", "groups"),
    [
        ("Ask HN: Why?", ("ask",)),
        ("ASK HN - Why?", ("ask",)),
        ("Show HN: A clock", ("show",)),
        ("Asking HN", ()),
        ("Ask HNs: Why?", ()),
        ("On Show HN", ()),
    ],
)
def test_title_decides_the_groups_ask_and_show(title, groups):
    assert grouped((title, "")) == [groups]


def test_host_with_twenty_stories_is_a_group():
    nineteen = [("A title", "https://www.Notes.example:8080/a?b")] * 19

    assert grouped(*nineteen) == [()] * 19
    assert grouped(*nineteen, ("Show HN: It", "http://notes.example/"))[18:] == [
        ("notes-example",),
        ("notes-example", "show"),
    ]


@pytest.mark.parametrize("link", ["", "http://[::1]/", "http://www./", f"http://{'a' * 51}/", "http://_x/"])
def test_host_that_cannot_be_the_name_of_a_group_is_none(link):
    assert grouped(*[("A title", link)] * 20) == [()] * 20
