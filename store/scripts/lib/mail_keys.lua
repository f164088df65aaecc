-- The keys of mails in this partition, as functions of mails.lua and notify.lua take them.
-- KEY   this partition's keys by name (see registry.py)
--       mailbox: a user's addresses   mailing: mails that wait, by when they are due   mail: what a mail is about
local MAILS = {mailbox = KEY.mailbox, mailing = KEY.mailing, mail = KEY.mail} -- the keys that functions of mails.lua take
