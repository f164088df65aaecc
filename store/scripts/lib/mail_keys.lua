-- The keys of mails in this partition.
local MAILS = {mailbox = KEY.mailbox, mailing = KEY.mailing, mail = KEY.mail} -- the keys that functions of mails.lua take
