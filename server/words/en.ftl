# The texts of the pages in English, for the server's HTML and for the script (https://projectfluent.org).
# docs/translating.md tells how they are translated. `<link>` and `<time/>` stand for elements of the page.

## What is around each page
language-offer = This page is also there in English.
site = Site
nav-all = All
nav-groups = Groups
nav-feed = Feed
nav-post = Post
nav-moderation = Moderation
skip = Skip to the content
keyboard = Keyboard
footer-comments = Comments
moderation-log = Moderation log
page-about = About
page-rules = Rules
page-privacy = Privacy
page-legal = Legal notice
welcome-about = About
rss = RSS
graphql = GraphQL
search = Search
log-in = Log in
log-out = Log out
register = Register
inbox = Inbox
unseen-word = new
waiting-word = waiting
theme-dark = Use the dark theme
theme-light = Use the light theme
logged-out = You are logged out.
logged-in-as = You are logged in as { $name }.
still-logged-in = You are still logged in. { $reason }
keys-not-shown = The keys cannot be shown: the server cannot be reached.
needs-script = This page needs JavaScript.
votes-need-script = Votes and comments need JavaScript.
dismiss = Dismiss
undo = Undo
loading = Loading…
try-again = Try again
not-loaded = This page could not be loaded.
cancel = Cancel
close = Close
more = More
more-about = More: { $name }
delete = Delete
deleted = Deleted
save = Save
preview = Preview
title-of-page = { $title }, page { $page }
pages = Pages
previous = ← Previous
next = Next →
not-found = Not found
not-found-text = There is nothing at this address. Go to the <link>front page</link>.
go-to-front-page = Go to the <link>front page</link>.
new-order = New order

## Times
just-now = just now
minutes-ago =
    { $count ->
        [one] { $count } minute ago
       *[other] { $count } minutes ago
    }
hours-ago =
    { $count ->
        [one] { $count } hour ago
       *[other] { $count } hours ago
    }
days-ago =
    { $count ->
        [one] { $count } day ago
       *[other] { $count } days ago
    }
months-ago =
    { $count ->
        [one] { $count } month ago
       *[other] { $count } months ago
    }
years-ago =
    { $count ->
        [one] { $count } year ago
       *[other] { $count } years ago
    }
edited-at = edited <time/>
joined-at = Joined <time/>
karma-joined = { $karma } karma, joined <time/>
joined-lower = joined <time/>

## Counts
number = { $count }
votes =
    { $count ->
        [one] { $count } vote
       *[other] { $count } votes
    }
comments =
    { $count ->
        [one] { $count } comment
       *[other] { $count } comments
    }
articles =
    { $count ->
        [one] { $count } article
       *[other] { $count } articles
    }
followers =
    { $count ->
        [one] { $count } follower
       *[other] { $count } followers
    }
following-count = { $count } following
replies =
    { $count ->
        [one] { $count } reply
       *[other] { $count } replies
    }
more-replies =
    { $count ->
        [one] { $count } more reply
       *[other] { $count } more replies
    }
flags =
    { $count ->
        [one] { $count } flag
       *[other] { $count } flags
    }
karma-of = { $karma } karma
karma-strong = <strong>{ $karma }</strong> karma
articles-and-followers = { $articles }, { $followers }
new-articles =
    { $count ->
        [one] { $count } new article
       *[other] { $count } new articles
    }
new-comments =
    { $count ->
        [one] { $count } new comment
       *[other] { $count } new comments
    }
new-users =
    { $count ->
        [one] { $count } new user
       *[other] { $count } new users
    }
new-groups =
    { $count ->
        [one] { $count } new group
       *[other] { $count } new groups
    }
new-texts =
    { $count ->
        [one] { $count } new text
       *[other] { $count } new texts
    }
new-notifications =
    { $count ->
        [one] { $count } new notification
       *[other] { $count } new notifications
    }
new-actions =
    { $count ->
        [one] { $count } new action
       *[other] { $count } new actions
    }
new-things =
    { $count ->
        [one] { $count } new thing
       *[other] { $count } new things
    }
new-matches =
    { $count ->
        [one] { $count } new match
       *[other] { $count } new matches
    }
new-appeals =
    { $count ->
        [one] { $count } new appeal
       *[other] { $count } new appeals
    }
comments-new = , { $count } new

## Orders and lists of articles
lists = Lists
orders = Orders
top = Top
order-score = Score
order-score-title = Top articles
order-score-what = What is new and has votes; each vote counts the same.
order-time = New
order-time-title = New articles
order-time-what = The newest first.
order-hot = Hot
order-hot-title = Hot articles
order-hot-what = What is new and has votes; the first votes count most.
order-gravity = Gravity
order-gravity-title = Articles by gravity
order-gravity-what = Votes for their age; everything sinks with time.
order-active = Active
order-active-title = Active articles
order-active-what = What somebody has just commented on.
order-best = Best
order-best-title = Best articles
order-best-what = What nearly everybody votes up, of any age.
order-votes = Votes
order-votes-title = Articles with most votes
order-votes-what = The most votes of all time.
order-controversial = Controversial
order-controversial-title = Controversial articles
order-controversial-what = Many votes, as many down as up.
list-day = Day
list-day-title = Top of the day
list-day-lower = top of the day
list-day-empty = Nothing was posted in this day.
list-week = Week
list-week-title = Top of the week
list-week-lower = top of the week
list-week-empty = Nothing was posted in this week.
list-month = Month
list-month-title = Top of the month
list-month-lower = top of the month
list-month-empty = Nothing was posted in this month.
list-good = Good
list-good-title = Good articles
list-good-of-day = Good articles of { $day }
list-good-day = Day (UTC)
list-good-empty = No article has enough votes yet.
no-articles = There are no articles here yet.

## An article and its comments
vote-up = Vote up
vote-down = Vote down
voting-closed = Voting has closed
voting-locked = The article is locked
sentence = { $text }.
vote-not-counted = Your vote was not counted. { $reason }
log-in-to-vote = Log in to vote.
discuss = discuss
deleted-title = Deleted: { $title }
article = Article
comment = Comment
article-locked = This article is locked
article-locked-rest = It takes no votes and no comments.
article-locked-hint = The article is locked: it takes no comments.
article-closed-hint = The article takes no comments any more.
article-waits-hint = The article takes no comments yet.
article-removed = A moderator has removed this article
article-waits = This article waits for a moderator
article-deleted = This article was deleted.
only-you-see = Only you and moderators see it.
only-poster-sees = Only its poster and moderators see it.
edit = Edit
delete-article-question = Delete this article?
delete-article-consequence = It is deleted with all its comments, and cannot be restored.
article-not-deleted = The article was not deleted. { $reason }
own-article-deleted = Your article is deleted.
order-of-comments = Order of the comments
comments-best = Best
comments-votes = Votes
comments-newest = Newest
comments-oldest = Oldest
comments-controversial = Controversial
first-comments = The first comments
more-comments = More comments
no-comments = There are no comments yet.
log-in-to-comment = <link>Log in</link> to comment.
your-comment = Your comment
comment-by = comment by { $name }
comment-by-title = Comment by { $name }
nobody = nobody
comment-removed-name = removed comment
comment-deleted-name = deleted comment
absent-removed = removed
absent-deleted = deleted
comment-deleted = This comment was deleted
comment-removed = This comment was removed by a moderator
comment-waits = This comment waits for a moderator
comment-without-text = This comment has no text
only-you-read = Only you and moderators read it.
only-poster-reads = Only its poster and moderators read it.
fold = Hide
fold-name = Show { $name } with replies
unfold-key = Show (x)
fold-key = Hide (x)
only-this-comment = Only this comment and its replies
poster = poster
badge-new = new
in-reply-to = in reply to
you-block = You block <name/>.
show-text = Show the text
hide-text = Hide the text
named-action = { $action }: { $name }
reply = Reply
reply-to = Reply to { $name }
reply-to-comment = Reply to this comment
your-reply = Your reply
log-in-to-reply = Log in to reply.
comment-verb = Comment
comment-is-deleted = Your comment is deleted.
comment-not-deleted = Your comment was not deleted. { $reason }
delete-comment-question = Delete your comment?
delete-comment-consequence = Its text and your name are removed. Replies to it stay.
comment-held = Your comment waits for a moderator. Until then only you and moderators see it.
comment-posted-before = This comment was posted before, and has been deleted since.
comment-changed = Your comment is changed.
edit-comment = Edit your comment
comments-further-down =
    { $count ->
        [one] { $count } new comment is further down.
       *[other] { $count } new comments are further down.
    }
comments-since-visit =
    { $count ->
        [one] { $count } comment since your last visit
       *[other] { $count } comments since your last visit
    }
next-new-comment = Next new comment (w)
next-new = Next
comment-on = on <article/>
comment-on-title = Comment on { $title }
comment-on-link = Comment on <link/>
one-comment = One comment and its replies
the-article = The article
all-comments-count = All { $count } comments
comments-above =
    { $count ->
        [one] { $count } comment above
       *[other] { $count } comments above
    }
same-link-before = The same link was posted before: <link/>
article-gone = This article was deleted or removed, with its comments. Go to the <link>front page</link>.
removed = Removed
comment-removed-by-moderator = A moderator has removed this comment
voters-item = Who voted up
voters-title = Who voted up
voters-none = Nobody.
what-moderators-did = What moderators did
host-and-poster = { $host }, posted by { $name }
posted-by = posted by { $name }

## Comments of the site
comments-title = Comments
comments-in = Comments in { $group }
only-in-group = Only on articles in <group/>. <all>All comments</all>
no-comments-here = There are no comments here yet.

## Groups
groups-title = Groups
no-groups = There are no groups yet. Articles are posted in groups by naming them.
no-group-of-name = No group can have this name.
begin-group = The group { $name } begins with its first article: <link>post one</link>.
post-here = Post here
about-group = About the group { $name }
articles-in = Articles in { $title }
edit-group = Edit the group
group = Group
group-changed = The group is changed.
group-title = Title
group-title-hint = Without one, readers see { $name }.
group-belongs = What belongs here
add-group = Add a group
add-the-group = Add the group
group-is-there = The group { $name } is there.
group-name = Name
group-name-hint = 1 to 50 of a-z, 0-9, _ and -, such as programming.
group-shown-title-hint = What readers see instead of the name.
find-group = Find a group
find = Find
name-of-group = Name of the group
all-groups = All groups
completions = Completions

## Users
articles-and-comments-of = Articles and comments of { $name }
user-articles = Articles
user-comments = Comments
no-articles-yet = No articles yet.
no-comments-yet = No comments yet.
no-followers-yet = No followers yet.
follows-nobody = Follows nobody yet.
parts = Parts
about-user = About { $name }
banned = Banned from this site
banned-until = Banned from this site until { $until }
follow = Follow
follow-name = Follow { $name }
following = Following
following-name = Following { $name }
log-in-to-follow = Log in to follow { $name }.
still-followed = You still follow { $name }. { $reason }
not-followed = You do not follow { $name }. { $reason }
block = Block
block-name = Block { $name }
blocked-verb = Blocked
blocked-name = Blocked { $name }
log-in-to-block = Log in to block { $name }.
still-blocked = You still block { $name }. { $reason }
not-blocked = You do not block { $name }. { $reason }
unblocked = You block { $name } no more.
now-blocked = You block { $name }. Nobody else learns of it.
your-account = Your account
profile-link = Profile
settings-link = Settings
followed-groups-link = Followed groups
saved-link = Saved
hidden-link = Hidden
blocked-link = Blocked
held-link = Held texts

## Search
search-title = Search: { $words }
search-hint = Type words into the search box. What you find has all of them; “words in quotation marks” stand there as they are.
what-to-find = What to find
search-order = Order
find-everything = Everything
find-articles = Articles
find-comments = Comments
find-users = Users
best-match = Best match
matches-newest = Newest
most-votes = Most votes
found-nothing = Nothing has all of these words.
found-no-text = No article and no comment has all of these words.
found-many = More than { $count } matches.
found =
    { $count ->
        [one] { $count } match.
       *[other] { $count } matches.
    }
did-you-mean = Did you mean <link/>?
users-found = Users
user-name = User { $name }
all-users = All { $count } users
search-too-long = The query is too long: it may have at most { $count } characters.
search-unavailable = The search is not available. This site has no database to search in, or it does not answer at the moment.

## Forms
form-article = Article
field-title = Title
field-link = Link
field-link-hint = An address that begins with https:// or http://. Not needed if there is a text.
field-text = Text
field-groups = Groups
field-groups-hint = At most 10 names with blanks between them, such as programming show.
markdown-hint = Markdown: *emphasis*, `code`, > quotation, [a link](https://…), @name.
most-characters = At most { $most } characters.
characters-of = { $count } of { $most } characters
posted-before = Posted <time/>, { $comments }: <link/>
title-asked = Asking the page for its title…
page-calls-itself = The page calls itself “<title/>”.
take-title = Take this title
post-title = Post an article
members-post = Members post articles.
post = Post
article-posted-before = This article was posted before, and has been deleted since.
article-held = Your article waits for a moderator. Until then only you and moderators see it.
article-posted = Your article is posted.
edit-article-title = Edit your article
only-poster-edits = Only its poster may edit <link>this article</link>.
article-changed = Your article is changed.
edit-waits = Your edit waits for a moderator. Until then others read the old text.
held-edit = The edit that waits
own-edit-waits = Your edit waits for a moderator <time/>: <why/>. Until then others read the old text.
an-edit-waits = An edit waits for a moderator <time/>: <why/>.
waits-because = { $said }: { $why }
held-words = it has a word that is looked at first
held-domains = it names a domain that is looked at first
held-first-texts = the first texts of an account are looked at
held-links = links of new accounts are looked at
held-repeated-text = it repeats a text
held-check = the check of texts asks for a look
held-rule = the rule { $rule } holds it

## Keys of the keyboard
keys-use = Use these keys
key-j = next article or comment
key-k = previous article or comment
key-o = open its link
key-c = open its comments
key-u = vote up, or take the vote back
key-d = vote down, or take the vote back
key-r = reply to a comment
key-e = edit your comment or article
key-f = follow a group or a user, or stop it
key-m = open the menu of an article or a comment
key-w = next comment that is new since your last visit
key-x = hide or show a comment with its replies
key-y = why an article stands where it does
key-n = next page
key-p = previous page, or the comment that is answered
key-search = search
key-help = show these keys
key-approve = approve what waits for moderators, or answer an appeal
key-remove = remove it, or revert an action, with a reason
key-lock = lock an article
key-enter = open its page for moderators

## The menu of a line, and what one keeps or hides
flag-item = Flag…
moderate = Moderate
log-in-to-flag = Log in to flag.
save-item = Save
unsave-item = Remove from saved
log-in-to-save = Log in to save.
saved = Saved: { $name }.
not-saved = Not saved: { $name }. { $reason }
still-saved = Still saved: { $name }. { $reason }
saved-no-more = Not saved any more: { $name }.
hide-item = Hide
unhide-item = Do not hide any more
log-in-to-hide = Log in to hide articles.
hidden-from-home = Hidden from your home and feed: { $title }.
hidden-no-more = Not hidden any more: { $title }.
not-hidden = Not hidden: { $title }. { $reason }
still-hidden = Still hidden: { $title }. { $reason }
hidden-name = Hidden: { $title }
hidden-line = Hidden: <title/>
undo-hide = Undo: hide { $title }
saved-title = Saved
saved-first = What you save by the menu of a line is listed here, for you alone.
saved-only-you = Only you see what you have saved.
nothing-saved = Nothing is saved. The menu of each line has Save.
hidden-title = Hidden
hidden-first = What you hide by the menu of a line is listed here, for you alone.
hidden-what = These articles are neither in your home nor in your feed. Only you know.
nothing-hidden = Nothing is hidden. The menu of each line has Hide.
do-not-hide = Do not hide
hide-again = Hide again
blocked-title = Blocked
blocked-first = Whom you block on their page is listed here, for you alone.
blocked-what = Their articles are neither in your home nor in your feed, what they write to you is not in your inbox, and their comments are folded. Only you know.
blocks-nobody = You block nobody. The page of each user has Block.
followed-groups-title = Followed groups
followed-groups-first = The groups that you follow are listed here.
followed-groups-what = Their articles are in your home. <link>All groups</link>
follows-no-groups = You follow no groups. The list of all groups has Follow.
home = Home
home-first = The articles of the groups that you follow are listed here, without what you hide.
home-of = Home: { $what }
home-order-score = top articles
home-order-time = new articles
home-order-hot = hot articles
home-order-gravity = articles by gravity
home-order-active = active articles
home-order-best = best articles
home-order-votes = articles with most votes
home-order-controversial = controversial articles
home-no-groups = You follow no groups yet, so this is the whole site. <link>Choose groups</link>
home-groups =
    The articles of <link>{ $count ->
        [one] { $count } group
       *[other] { $count } groups
    } that you follow</link>
feed-title = Feed
feed-first = Your feed has the articles of the people you follow, newest first.
feed-empty = There is nothing here yet. Follow people: their articles come here, newest first.
inbox-title = Inbox
inbox-first = Your inbox has replies to what you wrote, and texts that mention you.
inbox-empty = There is nothing here yet. Replies to you and texts with your @name come here.
what-it-answers = What it answers
mentioned-you = mentioned you
replied-to-comment = replied to your comment
replied-to-article = replied to your article
not-seen = { $count } not seen
mark-all-seen = Mark all as seen
mark-not-moved = The mark was not moved. { $reason }
new-dot = New
held-title = Held texts
held-first = Your texts that moderators have removed, or that wait for them, are listed here.
held-what = Your texts that only you and moderators read.
nothing-held = None of your texts is held.
moderator-removed-it = A moderator has removed it
it-waits = It waits for a moderator

## To log in
log-in-or-register = or <link>register</link>
log-in-at = Log in at { $host }
log-in-with = Log in with { $issuer }
log-in-ended = This log-in has ended, was used, or has begun in another browser. Please begin again.
log-in-refused = The log-in has failed there. Nobody is logged in.
log-in-later = This cannot be done now. Please try again later.
no-passwords = This site has no passwords of its own: you log in with an account that you have elsewhere.
nobody-logs-in = Nobody can log in on these pages.
name = Name
password = Password
forgot-password = Forgot the password?
new-here = New here?
registered-already = Registered already?
username-hint = 2 to 20 letters, digits, _ and -. Everybody can see it.
password-hint = At least 8 characters.
registration-closed = Nobody can register on this site.
registration-invited = Only who is invited can register on this site: open the link of your invitation.
forgotten-title = Forgotten password
forgotten-without-mail = This site sends no mail. Ask those who run it for a link to choose a new password.
send-link = Send me a link
name-or-address = Name or address
name-or-address-hint = A mail goes to the address that you have confirmed, with a link to choose a new password.
mail-if-known = If there is such a user with a confirmed address, a mail is on its way.
choose-password = Choose a password
password-of = For the account <user/>.
link-incomplete = Something is missing in this link: open it as you got it, or <link>ask for another one</link>.
set-password = Set the password
new-password = New password
new-password-hint = At least 8 characters. All your other sessions end.
password-set = Your password is set. You are logged in as { $name }.
confirm-title = Confirm an address
mails-go-here = Mails go to this address from now on.
mail-link-incomplete = Something is missing in this link: open the one in the mail as it is.
confirm-address = Confirm the address
confirm-text = This address was given for your account. Confirm it if that was you.
address-confirmed = Your address is confirmed.

## Settings
settings = Settings
settings-first = Here you edit your profile, and see where you are logged in.
change-password = Change the password
current-password = Current password
password-changed = Your password is changed. Your other sessions have ended.
profile = Profile
save-profile = Save the profile
profile-changed = Your profile is changed.
display-name = Name as people read it
display-name-hint = Without one, they read { $name }.
about-you = About you
picture-address = Address of a picture
picture-hint = Shown from { $hosts }; else one is drawn from your name.
theme = Theme
theme-choice-system = As the system
theme-choice-light = Light
theme-choice-dark = Dark
mail = Mail
mail-never = Never
mail-at-once = At once
mail-daily = Once a day
mail-weekly = On Mondays
mails-go-to = Mails go to { $address }.
address-use = With an address you can choose a new password when you have forgotten yours.
address-pending = { $address } is not confirmed yet: open the link in the mail to it.
send-again = Send it again
sent-again = The mail is sent again.
address-refused = The mail server has refused this address, so it gets no mails.
change-address = Change the address
address = Address
address-hint = Only you see it. Leave it empty to remove it.
address-password = Password, to change the address
address-mailed = A mail to { $address } has a link to confirm it.
address-removed = Your address is removed.
replies-by-mail = Replies by mail
mail-inbox = Mail me what arrives in my inbox
saved-setting = Saved.
proof-confirmed = The link in your mail has confirmed that it is you.
proof-no-password = You have no password here: this needs a log-in in the last five minutes.
proof-mail-sent = A mail is on its way: open the link in it in this browser.
proof-send = Send me a link by mail instead
refused-wrong-password = this is not your current password
refused-old-log-in = your log-in is too long ago for this: log out, and log in again
sessions-title = Where you are logged in
session-agent = { $program } on { $system }
session-no-agent = A program that does not say its name
session-current = (this browser)
session-used = Used <used/>, logged in <opened/>
log-out-there = Log out there
logged-out-there = You are logged out there.
log-out-else = Log out everywhere else
logged-out-else = You are logged out everywhere else.
your-data = Your data
your-data-text = All that this site keeps about you, as a ZIP of JSON lines. You can get it once an hour.
download-data = Download my data
data-collected = Your data is being collected…
data-downloaded = Your data is downloaded.
delete-account = Delete the account
delete-account-text = Your name, profile, address and follows go for good, and nobody else ever gets the name. Your votes stay counted, without your name.
my-texts = My articles and comments
texts-stay = They stay, without my name
texts-go = They are deleted, too
delete-account-password = Password, to delete the account
delete-account-question = Delete your account?
delete-account-texts-stay = This cannot be undone. Your articles and comments stay, without your name.
delete-account-texts-go = This cannot be undone. Your articles and comments are deleted, too.
delete-my-account = Delete my account
account-deleted = Your account is deleted.

## What moderators did, for whom it concerns
your-ban = Your ban
banned-for-good = You are banned from this site for good
you-are-banned-until = You are banned from this site until { $until }
ban-text = You can read everything, your <link>inbox</link> too, and appeal, once. You cannot post, comment, vote, follow or flag.
appeal = Appeal
send-appeal = Send the appeal
your-appeal = Your appeal
appeal-hint = Say why it is wrong. You can appeal once; only moderators read it.
appeal-sent = Moderators will read your appeal.
appealed = You appealed <time/>: <text/>
appeal-answered = <user/> answered <time/>: <text/>
appeal-will-be-read = Moderators will read it.
said-annulled = A moderator annulled votes of yours: they do not count any more
said-approved = A moderator approved { $thing }
said-banned = You are banned from { $place } { $end }
said-was-banned = You were banned from { $place } { $end }
said-granted = You are now { $role }
said-granted-some = You were given a role on this site
said-locked = A moderator locked { $thing }
said-purged = A moderator deleted { $thing } for good
said-edit-rejected = A moderator rejected your edit: { $thing } stays as it was
said-out-of-group = A moderator took your article out of { $place }
said-removed = A moderator removed { $thing }
said-revoked = You are no longer { $role }
said-revoked-some = A role that you had on this site was taken from you
said-restored-votes = A moderator restored votes of yours: they count again
said-disapproved = A moderator took back the approval of { $thing }
said-unbanned = A moderator took back your ban from { $place }
said-unlocked = A moderator unlocked { $thing }
said-back-in-group = A moderator put your article back into { $place }
said-restored = A moderator restored { $thing }
said-role-again = You are { $role } again
said-role-again-some = A role on this site was given back to you
said-took-back = A moderator took back a decision about { $thing }
thing-article = your article
thing-comment = your comment
thing-account = your account
place-site = this site
place-group = the group { $group }
end-for-good = for good
end-until = until { $until }
role-admin = an admin
role-moderator-of = a moderator of { $place }
role-moderator = a moderator

## The log of moderation. Before and after `<subject/>` stands what was done to it
did-annul = annulled votes of <subject/>
did-approve = approved <subject/>
did-ban = banned <subject/> from { $place } { $end }
did-grant = made <subject/> { $role }
did-grant-some = gave <subject/> a role on this site
did-lock = locked <subject/>
did-purge = deleted <subject/> for good
did-reject-edit = rejected an edit of <subject/>
did-out-of-group = took <subject/> out of { $place }
did-remove = removed <subject/>
did-revoke = took from <subject/> the role of { $role }
did-revoke-some = took from <subject/> a role on this site
did-restore-votes = restored votes of <subject/>
did-disapprove = took back the approval of <subject/>
did-unban = took back the ban of <subject/> from { $place }
did-unlock = unlocked <subject/>
did-back-in-group = put <subject/> back into { $place }
did-restore = restored <subject/>
did-role-again = made <subject/> { $role } again
did-role-again-some = gave <subject/> a role on this site again
did-take-back = took back a decision about <subject/>
with-ban = with a ban of its poster
with-ban-reverted = the ban of its poster was taken back
named-at-start = named by UPVOTE_ADMIN at the first start
by-shell = by a command of the shell
all-reverted = all actions of this moderator since then are reverted
must-not-stay = it must not stay
subject-them = them
subject-it = it
a-comment-on = a <link>comment on <title/></link>
thing-of-type =
    { $type ->
        [article] article { $name }
        [comment] comment { $name }
        [user] user { $name }
       *[other] { $type } { $name }
    }
for-moderators = <strong>For moderators:</strong> { $note }
all-about-it = All about it
reverted-by = Reverted by <user/> <time/>
log-what = What moderators did, and why. <link>Who they are</link>
log-empty = Moderators have done nothing here yet.
log-only-about = Only what is about { $subject }. <all>All of the log</all>
log-only-in = Only what was done in <group/>. <all>All of the log</all>
log-only-about-in = Only what is about { $subject } and was done in <group/>. <all>All of the log</all>
operator = operator
on-title = on <link/>

## Flags
flag-question = Flag it?
flag-text = Moderators will look at it: { $name }
flag = Flag
flag-why = Why?
flag-spam = It advertises, or a program has posted it
flag-abuse = It attacks somebody
flag-off-topic = It does not belong here
flag-illegal = It breaks the law
flag-other = For another reason
note = Note
flag-note-hint = What moderators should know. Nobody else reads it.
unflag-question = Withdraw your flag?
unflag = Withdraw the flag
unflagged = Your flag is withdrawn.
not-flagged-before = You had not flagged it.
you-flagged = You flagged it <time/>: { $reason }.
flagged-now = Thank you: moderators will look at it.
flagged-before = Nothing has changed: you had flagged it so, or a moderator has approved it since.

## Pages of moderators
only-moderators = Only for moderators
only-moderators-text = This page is for those who moderate this site or one of its groups.
moderation = Moderation
moderation-of = Moderation: { $name }
queue-flagged = Flagged { $count }
queue-pending = Pending { $count }
queue-appeals = Appeals { $count }
queues = Queues
places = Places
roles-and-groups = Roles and groups
pending-empty = Nothing waits to be shown.
flagged-empty = Nothing that is flagged waits.
appeals-empty = No appeal waits for an answer.
posted-at = posted <time/>
flagged-at = flagged <time/>
what-waits-in-group = What waits in this group
waits-no-longer = This no longer waits.
whole-site = The whole site
give-role = Give a role
give-the-role = Give the role
role = Role
role-option-moderator = Moderator
role-option-admin = Admin
name-of-user = Name of the user
role-group-hint = Empty for the whole site. Admins are of the whole site.
reason = Reason
reason-hint = Everybody can read it in the log.
has-role = { $name } has the role.
has-role-already = { $name } has the role already.
is-no-longer = { $name } is no longer { $role }.
take-role-question = Take the role?
is-role-of = { $name } is { $role } of { $place }.
take-role = Take the role
take-role-from = Take the role of { $role } from { $name }
is-role-since = <user/> is { $role } since <time/>
no-moderators = No moderators of its own.
more-not-listed = { $count } more are not listed here.
roles-no-groups = There are no groups yet.
no-such-group = There is no group of this name.
invite = Invite somebody
invite-text = Who gets the link may register, once, within a week.
make-link = Make a link
make-another-link = Make another link
invitation-made = An invitation is made.
invitation-link = Link of the invitation
invitation-hint = It is shown only now, and good until { $until }.
copy-link = Copy the link
link-copied = The link is copied.
link-not-copied = The link cannot be copied here: select it.
do-approve = Approve
do-reject = Reject
do-reject-edit = Reject the edit
do-remove = Remove
do-lock = Lock
do-annul = Annul
do-annul-votes = Annul votes
do-ban = Ban
do-revert = Revert
do-answer = Answer
field-answer = Answer
done-approve = Approved.
done-reject = Rejected: the old text stays.
done-remove = Removed.
done-lock = Locked.
done-annul = Their votes do not count any more.
done-ban = Banned.
done-revert = Reverted.
done-answer = Answered.
done-same = This was so before: nothing has changed.
ask-approve = Approve { $name }
ask-reject = Reject the edit: { $name }
ask-remove = Remove { $name }
ask-lock = Lock { $name }
ask-ban = Ban <user/>
ask-annul = Annul votes of <user/>
ask-annul-each = Annul votes of { $count } accounts
annulled-accounts = Accounts whose votes are annulled: { $done } of { $total }.
not-annulled = Not annulled: { $failures } Try again for what is left.
not-annulled-why = { $name }: { $reason }
ask-revert = Revert: { $said }
ask-answer = Answer the appeal against: { $said }
everywhere = Everywhere
where = Where
in-group = The group { $group }
out-of-group = Out of the group { $group }
ban-group-hint = Without one, the ban is from the whole site.
how-long = How long
ban-remove-texts = Remove all their articles and comments there, too
ban-annul-votes = Annul all their votes, if the ban is from the whole site
which-votes = Which votes
keep-annulled = Leave their votes annulled
answer-hint = Whoever has appealed reads it.
reason-if-any = Reason, if there is one to give
reason-in-log = Everybody reads it in the log.
note-hint = Only moderators of the place read it.
one-day = 1 day
one-week = 1 week
thirty-days = 30 days
one-year = 1 year
for-good = For good
votes-all = All so far
votes-of-day = Those of the last day
votes-of-week = Those of the last week
votes-of-thirty-days = Those of the last 30 days
said-by = { $name }: { $said }
desk-reverted-by = reverted by <user/> <time/>
desk-note = Note: { $note }
desk-appeal = Appeal <time/>
desk-answered = Answered <user/> <time/>
a-comment = a comment
progress-of = { $done } of { $total }
annulled-so-far = Votes annulled so far: { $progress }.
votes-do-not-count =
    { $count ->
        [one] { $count } vote does not count.
       *[other] { $count } votes do not count.
    }
annulled-since = Votes that were cast before { $time } may be untouched: the server does not know of them.
restored-so-far = Votes restored so far: { $progress }.
votes-count-again = The votes count again.
its-page = Its page
not-your-group = It is in no group that you moderate.
not-on-your-own = It is your own: other moderators decide about it.
not-on-their-role = Its poster has the same role here or a higher one: whoever has a higher role decides about it.
not-banned-by-you = You cannot ban this user, who has the same role or a higher one.
action-key = { $name } ({ $key })
approved-name = Approved: { $name }.
approved-before = This was approved before.
not-approved = It was not approved. { $reason }
actions-of-moderators = Actions of moderators
no-actions = No moderator has done anything about this yet.
thread-around = The thread around it
context-empty = There are no comments.
comment-without-a-text = comment without a text
state-pending = pending
state-removed = removed
state-deleted = deleted
state-pending-text = It is not shown: it waits for a moderator.
state-held = It is not shown, and waits for a moderator: <why/>.
state-removed-text = A moderator has removed it. Its poster and moderators see it.
state-deleted-text = It was deleted.
state-locked = It is locked: it takes no votes and no comments.
out-of-groups = Not in your groups
out-of-groups-text = It was taken out of a group, and is in no group that you moderate. It is not visible, so you cannot read it.
gone-removed = A moderator has removed it, and it is in no group that you moderate.
go-to-queue = Go to <link>what waits</link>.
nothing-with-id = There is nothing with this id, or it was deleted.
flags-summary = { $flags }: { $summary }
flagged-because = <user/> { $reason } <time/>
reason-spam = spam
reason-abuse = abuse
reason-off-topic = off topic
reason-illegal = illegal
reason-other = another reason
count-of-reason = { $count } { $reason }
no-actions-user = No moderator has done anything about this user.
all-actions-in-log = All { $count } actions in the log
history-banned = Banned from this site for good.
history-banned-until = Banned from this site until { $until }.
newest-texts = Newest texts
kind-comment = comment
text-deleted = deleted
ring-title =
    { $count ->
        [one] In a ring of { $count } account
       *[other] In a ring of { $count } accounts
    }
ring-text = { $votes } for each other, of which chance explains { $expected }. Each has voted for { $coverage } % of what the others have posted. Found <time/>.
ring-more = and { $count } more
ring-moves = Annulling all their votes takes { $articleVotes } on articles and { $commentVotes } on comments, which moves { $articles } with such votes by score.
ring-annulled =
    { $count ->
        [one] The votes of { $count } account are annulled already.
       *[other] The votes of { $count } accounts are annulled already.
    }
ring-left-out = Left out: { $names }. You cannot annul your own votes, nor those of somebody who has the same role or a higher one.
annul-ring =
    { $count ->
        [one] Annul the votes of { $count } account
       *[other] Annul the votes of { $count } accounts
    }
ring-loses = loses { $votes }: place { $place } → { $newPlace }

## What went wrong
too-many-requests = Too many requests. { $when }
too-often = This was too often. { $when }
try-at = Try again at { $time }.
try-later = Try again later.
server-unavailable = The server is not available at the moment.
server-unavailable-because = { $message }
server-unreachable = The server cannot be reached.
offline = You are offline.
session-ended = Your session has ended. Log in again.
session-ended-write = Your session has ended. Log in again to vote and to write.

## The page that ends mails
mails-about-replies = Mails about replies
mails-what = { $site } mails you what arrives in your inbox.
mails-end = Get no more of these mails
mails-ended = You get no more mails about replies. The settings have them again.
mails-wrong-link = This link is not valid. Perhaps it was cut off, or the account is gone.
mails-not-now = This cannot be done now: try again in a minute.

## Mails, in the language of the site
mail-confirm-subject = Confirm your address for { $site }
mail-confirm = This address was given for the account { $name } at { $site }.
mail-confirm-do = Confirm the address
mail-confirm-rest = The link is good for a day, and a button there confirms it. If this is not your account, do nothing.
mail-identity-subject = Confirm that it is you at { $site }
mail-identity = Somebody who is logged in as { $name } at { $site } wants to delete the account, or to change its address.
mail-identity-do = Go on in the settings
mail-identity-rest = The link is good once, and for an hour. If that was not you, do nothing: nothing has changed. In the settings you see where you are logged in.
mail-change-subject = Your address at { $site } is to be changed
mail-change = Another address was given for the account { $name } at { $site }. Until it is confirmed, this one stays.
mail-not-you = If that was not you:
mail-change-password = Change your password
mail-new-password = Ask for a new password
mail-removal-subject = Your address at { $site } was removed
mail-removal = This address was removed from the account { $name } at { $site }. No new password can be asked for by it any more.
mail-reset-subject = Your password at { $site }
mail-how-subject = How you log in at { $site }
mail-reset = Somebody asked for a new password at { $site }.
mail-reset-do = Choose a new password for { $name }
mail-reset-rest =
    { $count ->
        [one] This link is
       *[other] These links are
    } good once, and for an hour.
mail-no-password = { $name } has no password: log in as you did before
mail-nothing-changed = If that was not you, do nothing: nothing has changed.
mail-replies-subject =
    { $count ->
        [one] { $count } new notification
       *[other] { $count } new notifications
    } at { $site }
mail-mentioned = { $name } mentioned you in “{ $title }”
mail-wrote = { $name } wrote to you in “{ $title }”
mail-more = And { $count } more
mail-why = You get this as { $name }.
mail-end = Get no such mails any more

## Feeds, in the language of the site
feed-comments = comments

## Why the server refuses something. In English it says so itself
refused = { $message }
request-failed = { $message }
refused-already-reverted = { $message }
refused-bad-credentials = { $message }
refused-bad-token = { $message }
refused-banned = { $message }
refused-banned-until = { $message }
refused-forbidden = { $message }
refused-idempotency-mismatch = { $message }
refused-locked = { $message }
refused-not-a-moderator = { $message }
refused-not-found = { $message }
refused-not-offered = { $message }
refused-self-follow = { $message }
refused-username-taken = { $message }
refused-voting-closed = { $message }
refused-invalid = { $message }
refused-invalid-title = { $message }
refused-invalid-link = { $message }
refused-invalid-content = { $message }
refused-invalid-text = { $message }
refused-invalid-reason = { $message }
refused-invalid-note = { $message }
refused-invalid-about = { $message }
refused-invalid-groups = { $message }
refused-invalid-group = { $message }
refused-invalid-subject-id = { $message }
refused-invalid-article-id = { $message }
refused-invalid-user-id = { $message }
refused-invalid-username = { $message }
refused-invalid-password = { $message }
refused-invalid-new-password = { $message }
refused-invalid-email = { $message }
refused-invalid-avatar-url = { $message }
refused-invalid-until = { $message }
refused-rule = { $message }
refused-rule-words = { $message }
refused-rule-domains = { $message }
refused-rule-check = { $message }
refused-rule-repeated-text = { $message }
refused-rule-first-texts = { $message }
refused-rule-texts-a-day = { $message }
refused-rule-links = { $message }
refused-rule-votes = { $message }
refused-rule-downvotes = { $message }
refused-rule-registrations = { $message }

## Why an article stands where it does
standing-place = Place { $rank } by { $order }
standing-place-in-group = Place { $rank } by { $order } in { $group }
standing-place-on-site = Place { $rank } by { $order } on the whole site
standing-home = Your home has its articles in the same order.
standing-none = It has no place here any more.
standing-first = It is the first.
standing-no-votes = Votes do not move it in this order.
standing-closed = Voting has closed.
standing-stays = More votes up do not pass the one above.
standing-missing =
    { $count ->
        [one] 1 more vote passes the one above.
       *[other] { $count } more votes pass the one above.
    }
part-votes = votes
part-age = age
part-since-the-newest-comment = since the newest comment
part-upvotes = upvotes
part-downvotes = downvotes
part-share-of-upvotes = share of upvotes
part-uncertainty = uncertainty
part-all-votes = all votes
part-imbalance = imbalance
