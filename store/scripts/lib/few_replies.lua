-- How many replies are few. Few replies to a comment, or to an article, have the index `best` only, which most readers want:
-- their values in the other orders follow from their hashes, and the keys of three indexes would take as much memory as the
-- text of a comment.
local FEW_REPLIES = 16 -- to one comment or article: only more have the indexes of all orders
