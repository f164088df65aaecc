"""
The archive: old articles that are in the SQL database only. A listing, such as the site by SCORE, is merged from the
partitions of the store in Redis, which are shares of the data with indexes of their own; for listings the archive is
one more partition. A place is an article with its value in a listing.

An article leaves Redis in this order: it is marked as moving, which means that its number is in the set `moving` of its
partition; the database writes its places; `archive.lua` removes the article and the mark from Redis. To change it,
`unarchive.lua` writes it back and marks it; later the database removes its places, and then the mark is removed. Reads
ignore the places of marked articles. So an article is archived if Redis does not have it and it is not marked, and a
crash between any two steps changes no answer.

An article with comments leaves with all of them (`departures`): the database has their rows, and keeps what only their
hashes have; when the article has left, its comments are removed from Redis. `conversations` computes threads from the
rows. To come back (`returns`) the comments are written to Redis first and the article last, so that at each moment
either Redis or the database has all of a conversation.
An article that a moderator has removed leaves in the same way. As no listing has it, `mover` asks the database for such
articles; Redis keeps its number in `held`, the list of its poster's articles that are not shown.

Two counters of each partition tell a reader whether articles have moved between two reads: `serial` rises when an
article leaves Redis or comes back, `marks` when articles are marked. Articles are also marked, again if necessary,
before the database changes what it has of them.
"""
