-- Slots: a slot decides the partition, the share of the data. A user or a group has that of the name. A number has one as its
-- last part, number % SLOTS: that of an article is the slot of its poster, that of a comment the slot of its article, and that
-- of an action the slot of its subject.
local SLOTS = 1024 -- how many slots there are, as in store/keys.py
