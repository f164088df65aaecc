"""
The scripts of the store. A script is one Lua file, or several that are put one after the other: those that change
articles begin with `home.lua`.
"""

from collections.abc import Sequence
from pathlib import Path

from store.client.commands import Argument, Command, register_script

FOLDER = Path(__file__).parent


class Script:
    def __init__(self, *files: str, is_read_only: bool = False) -> None:
        self.text = "".join((FOLDER / f"{file}.lua").read_text() for file in files)
        self.digest = register_script(self.text, is_read_only=is_read_only)

    def command(self, keys: Sequence[str], *arguments: Argument) -> Command:
        return ("EVALSHA", self.digest, len(keys), *keys, *arguments)


FEED = Script("feed", is_read_only=True)
COUNT = Script("count", is_read_only=True)
VOTES = Script("votes", is_read_only=True)
RANGE = Script("places", "range", is_read_only=True)
RANK = Script("places", "rank", is_read_only=True)
GRAVITY = Script("gravity", "gravity_search", "gravity_page", is_read_only=True)
GRAVITY_RANK = Script("gravity", "gravity_rank", is_read_only=True)

POST = Script("home", "changes", "post")
VOTE = Script("home", "vote")
EDIT = Script("home", "edit")
DELETE = Script("home", "changes", "delete")
REGROUP = Script("home", "changes", "regroup")
IMPORT = Script("home", "changes", "import")
SEEN = Script("home", "seen")
FILL = Script("home", "fill")
SETTLE = Script("home", "settle")
PIN = Script("pin")

REGISTER = Script("register")
SESSION = Script("session")
RENEW_SESSION = Script("renew_session")
END_SESSION = Script("end_session")
PASSWORD = Script("password")
BUCKET = Script("bucket")

VERIFY_ARTICLE = Script("home", "verify", "verify_article")
VERIFY_USER = Script("home", "verify", "verify_user")
VERIFY_MEMBERS = Script("home", "verify", "verify_members")
VERIFY_KEY = Script("home", "verify", "verify_key")
