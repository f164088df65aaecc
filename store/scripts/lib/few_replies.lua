-- How many replies are few: the replies to a comment, or to an article, that are at most so many have the index `best` only,
-- which most readers want. Their values in the other orders follow from their hashes, and the keys of three indexes would take
-- as much memory as the text of a comment.
local FEW_REPLIES = 16
