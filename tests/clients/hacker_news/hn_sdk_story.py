"""What hn-sdk reads of a server. Arguments: the address of the API, the number of a story, the name of a user."""

import json
import sys

from hn_sdk.client.v0 import client

address, story, username = sys.argv[1:]
client.BASE_URL = address.removesuffix("/v0/")


def titles(ids):
    return [client.get_item_by_id(id)["title"] for id in ids[:3]]


def thread(ids):
    """The comments below an item, each before its answers."""
    found = []
    for comment in map(client.get_item_by_id, ids):
        found += [[comment["by"], comment["text"], comment["parent"]], *thread(comment.get("kids", []))]
    return found


item = client.get_item_by_id(int(story))
user = client.get_user_by_username(username)
submitted = [client.get_item_by_id(id)["type"] for id in user["submitted"]]
changed = client.get_updates()
print(
    json.dumps(
        {
            "top": client.get_top_stories(),
            "new": titles(client.get_new_stories()),
            "ask": titles(client.get_ask_stories()),
            "show": titles(client.get_show_stories()),
            "jobs": client.get_job_stories(),
            "story": [item[name] for name in ("title", "url", "score", "by", "descendants")],
            "thread": thread(item["kids"]),
            "user": [user["id"], user["karma"], submitted.count("story"), submitted.count("comment")],
            "newest": client.get_max_item_id(),
            "updates": [changed["items"], changed["profiles"]],
        }
    )
)
