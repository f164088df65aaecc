"""The benchmark of the front page in a browser runs, and prints a table."""

import re

from bench import reader


async def test_front_page_is_measured(site, capsys):
    await reader.measure(f"{site.url}/", loads=1)

    first, _, *table = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"load of the machine [\d.]+; 1 GraphQL request; [\d.]+ kB of script", first)
    # Below the heads of columns: a row of cold loads and one of warm loads, with a number for each of the 7 columns.
    assert [len(re.findall(r"\d+", line)) for line in table[2:]] == [7, 7]
