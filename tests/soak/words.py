"""
The words of a text, as docs/search.md describes them, for the model with which the soak test compares a server. The
rules are simpler than those of the server: the texts of the soak test have no words that need the others.
"""

import re
import unicodedata

LONGEST_WORD = 100
WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\U0001f389]|[a-z0-9]+")


def words(text: str) -> list[str]:
    """Runs of letters and digits without case and accents, and each Chinese or Japanese character and emoji."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(each for each in decomposed if not unicodedata.combining(each))
    return [word[:LONGEST_WORD] for word in WORD.findall(plain)]
