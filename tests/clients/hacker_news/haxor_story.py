"""What haxor reads of a server. Arguments: the address of the API, the number of a story, the name of a user."""

import json
import sys

from hackernews import HackerNews, settings

address, story, username = sys.argv[1:]
settings.supported_api_versions["v0"] = address
client = HackerNews()


def thread(ids):
    """The comments below an item, each before its answers."""
    found = []
    for comment in client.get_items_by_ids(ids or []):
        found += [[comment.by, comment.text, comment.parent], *thread(comment.kids)]
    return found


item = client.get_item(int(story), expand=True)
user = client.get_user(username, expand=True)
changed = client.updates()
print(
    json.dumps(
        {
            "top": [each.item_id for each in client.top_stories()],
            "new": [each.title for each in client.new_stories(limit=3)],
            "ask": [each.title for each in client.ask_stories(limit=3)],
            "show": [each.title for each in client.show_stories(limit=3)],
            "jobs": client.job_stories(),
            "story": [item.title, item.url, item.score, item.by.user_id, item.descendants],
            "thread": thread([comment.item_id for comment in item.kids]),
            "user": [user.user_id, user.karma, len(user.stories), len(user.comments)],
            "newest": client.get_max_item(expand=True).item_id,
            "last": [each.item_id for each in client.get_last(10)],
            "updates": [[each.item_id for each in changed["items"]], [each.user_id for each in changed["profiles"]]],
        }
    )
)
