"""
Answers of scripts that are kept for a moment: a call whose reply was lost is sent again, and has the first answer.

Otherwise the second run of such a call would say that there was nothing to change. It would also undo what was changed
since, where a server runs the first of two equal calls after the second.
"""

from random import getrandbits
from typing import TYPE_CHECKING

from store.kinds import Kind, Text

if TYPE_CHECKING:
    from store.client.client import RedisClient

LIFETIME = 10_000  # milliseconds; longer than calls are sent again

CALL_BITS = 72  # random ones: no two calls have the same
CALL_FORMAT = f"%0{CALL_BITS // 4}x"
CALL = Text("CALL", f"[0-9a-f]{{{CALL_BITS // 4}}}")

answer = Kind(
    "answer",
    "string",
    parts=(CALL,),
    holds="the reply to a call that has changed something, for the case that it is sent again, by a random text of the "
    "call",
    lifetime="10 seconds",
    written_by="vote, follow, edit, delete and others",
)

# What follows the text of a script, which is the function `run`. The last argument is the random text of the call.
# `KEPT` has, by the status of a reply, the number of the part that is not kept because it is long; 0 for none.
TEXT = """
local answer_key = "%s:" .. string.match(KEYS[1], "{%%d+}") .. ":" .. table.remove(ARGV)
local answered = redis.call("GET", answer_key)
if answered then return cjson.decode(answered) end
local reply = run()
local left_out = type(reply) == "table" and KEPT[reply[1]]
if left_out then
  local part = reply[left_out]
  if part then reply[left_out] = {} end
  redis.call("SET", answer_key, cjson.encode(reply), "PX", %d)
  if part then reply[left_out] = part end
end
return reply
"""


def kept(body: str, statuses: str) -> str:
    """
    The text of a script that keeps its replies with some statuses: `changed, voted without part 3`, where the third
    part of a reply is an empty list when the call is sent again.
    """
    parts = [each.partition(" without part ") for each in statuses.split(", ")]
    table = ", ".join(f"{status} = {left_out or 0}" for status, _, left_out in parts)
    return f"local function run()\n{body}\nend\nlocal KEPT = {{{table}}}{TEXT % (answer.name, LIFETIME)}"


async def hash_left_out(redis: "RedisClient", key: str) -> dict[str, str]:
    """The hash that a kept answer leaves out, as it is now; empty if it is gone. One round trip."""
    found: dict[str, str] = await redis.run(("HGETALL", key))
    return found


def new_call() -> str:
    """The random text of a new call, unique but no secret: the last argument of a script that keeps its answers."""
    return CALL_FORMAT % getrandbits(CALL_BITS)
