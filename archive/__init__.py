"""
The archive: old articles that are in the SQL database only. A listing, such as the site by SCORE, is merged from the
partitions of the store; to it the archive is one more partition. A place is an article with its value in a listing.

An article leaves Redis in this order: it is marked as moving, the database writes its places, and `archive.lua` removes
it from Redis and the mark. To change it, `unarchive.lua` writes it back and marks it; later the database removes its
places, and then the mark is removed. So an article is archived if Redis does not have it and it is not marked, and a
crash between any two steps changes no answer.

An article with comments leaves with all of them (`departures`): the database has their rows, and keeps what only their
hashes have; when the article has left, they are removed. `conversations` computes threads from the rows. To come back
(`returns`) the comments are written first and the article last, so that each moment has one place to read from.
An article that a moderator has removed leaves in the same way. No listing has it, and the database finds it (`mover`);
Redis keeps its place among what is held of its poster.

Whoever reads in several places sees by two serials of a partition whether articles have moved meanwhile: `serial` rises
when an article leaves Redis or comes back, `marks` when articles are marked. Articles are also marked, again if
necessary, before the database changes what it has of them.
"""
