-- The keys of mails in this partition, as mails.lua gets them.
local MAILS = {mailbox = KEY.mailbox, mailing = KEY.mailing, mail = KEY.mail}
