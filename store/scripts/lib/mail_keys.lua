-- The keys of mails in this partition, as functions of mails.lua and notify.lua take them.
-- KEY   keys of this partition (a share of the data) by kind
--       mailbox: a user's addresses   mailing: mails that wait, by when they are due   mail: what a mail is about
local MAILS = {mailbox = KEY.mailbox, mailing = KEY.mailing, mail = KEY.mail} -- the keys that functions of mails.lua take
