"""
The model: a server in plain Python, with which the soak test compares the real one. Its commands do what
docs/behaviours.md describes.

A command checks its input, `given`, and then changes the model, or raises `Refused`. Nothing is stored twice: karma,
counts and orders are computed from the votes when they are read. `version` grows with each change that a listing may
show: `pages` and `threads` keep what they have sorted until then. `reached` counts the cases that occurred.

A text, or subject, is an article or a comment. An action is what a moderator has done to a text or a user; an annulled
vote is one that an action keeps from counting. A held text waits for a moderator, because a rule or flags hold it. An
archived article has left Redis for the database. A mark is the newest entry of a feed or an inbox that was seen.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from tests.soak.archiving import Story
from tests.soak.formulas import Policy
from tests.soak.input_checks import (
    USERNAME,
    Refused,
    check,
    check_all,
    group_names,
    is_id,
    is_link,
    number_of,
)
from tests.soak.reached import Reached
from tests.soak.records import Action, Article, Comment, Key, User, newest_standing, set_vote, vote_of
from tests.soak.verdicts import Verdicts

DAY = 86_400_000  # milliseconds
SLOTS = 1_024  # which numbers and users fall in; each partition, a share of the data, has some of them
REPEAT = 10_000  # milliseconds in which the same post without an idempotency key counts as a double click
DUPLICATE_WINDOW = 30 * DAY  # in which another article with the same link is called a duplicate
GROUPS_OF_AN_ARTICLE = 10


class Mirror(Enum):
    """How the SQL database follows Redis: it soon has all changes, it has none since `Model.indexed`, or it is away."""

    UP = "up"
    BEHIND = "behind"
    AWAY = "away"


class Model:
    """What a server should know. Commands take the token of the session that sends them; `now` is their time."""

    def __init__(self, policy: Policy, partitions: int) -> None:
        self.policy, self.partitions = policy, partitions
        self.now = 0
        self.version = 0
        self.users: dict[str, User] = {}  # by name in lower case
        self.departed: dict[str, User] = {}  # users who have left, by pseudonym
        self.names_of_before: set[str] = set()  # names of users who have left, in lower case: nobody may register them
        self.articles: dict[int, Article] = {}  # by number, without deleted ones
        self.comments: dict[int, Comment] = {}  # by number; of deleted ones only stubs, which have replies
        self.actions: dict[int, Action] = {}  # of moderators, by number
        self.texts_of_ban: dict[str, int] = {}  # by id of a text: the action about it that a ban or its revert has made
        self.operator = User("operator", password="", joined_at=0)  # who acts by a command of the shell
        self.numbers: set[int] = set()  # of all articles, comments and actions, also of what is deleted
        self.orphans: set[int] = set()  # numbers of the comments of deleted articles
        self.moves: Counter[int] = Counter()  # votes that may have moved a comment in its thread, by partition
        self.sessions: dict[str, User] = {}  # by token
        self.identities: dict[str, Any] = {}  # of users of an issuer, by its id of the user: see `issuers`
        self.exchanged: dict[str, int] = {}  # by session: when it was got for a token of the issuer
        self.roles_by_claims: list[int] = []  # numbers of the actions that the claims of the latest token cause
        self.password_links: dict[str, Any] = {}  # to choose a new password, by token: see `resets`
        self._hidden_tokens = 0  # tokens that no answer has shown
        self.pins: dict[tuple[Any, ...], Any] = {}  # copies of listings that are read page by page: see `pages`
        self.mirror = Mirror.UP
        self.indexed: Mapping[Any, Any] = {}  # what the database had of articles, comments and users before a fault
        self.archived: set[int] = set()  # articles that are in the database instead of Redis; no answer depends on it
        self.have_left: set[int] = set()  # those that were archived once, and may have come back
        self.long_lists: set[User] = set()  # users of whose comments Redis may list the newest only
        self.is_leaving = False  # whether articles leave Redis now
        self.reached = Reached()
        self.verdicts = Verdicts(self, policy.rules)

    def has_voters(self, subject: Article | Comment) -> bool:
        """Whether it is known who has voted: until voting closes; never of a deleted comment."""
        return subject.poster is not None and self.now <= self.closes_at(subject)

    def is_open(self, subject: Article | Comment) -> bool:
        """Whether it takes votes."""
        article = subject.article if isinstance(subject, Comment) else subject
        takes_votes = subject.is_visible and article.is_visible and not article.is_locked
        return takes_votes and self.has_voters(subject)

    def is_old(self, article: Article) -> bool:
        """Whether it is too old for comments."""
        days = self.policy.comment_days
        return days is not None and self.now > article.posted_at + days * DAY

    def takes_comments(self, article: Article) -> bool:
        return article.is_visible and not article.is_locked and not self.is_old(article)

    def closes_at(self, subject: Article | Comment) -> int:
        """The last instant at which votes are taken, in unix milliseconds."""
        return subject.posted_at + self.policy.voting_window * 1000

    def visible(self) -> Iterator[Article]:
        return (article for article in self.articles.values() if article.is_visible)

    def may_read(self, user: User | None, article: Article) -> bool:
        """Whether a user, or a stranger, may read an article by its id."""
        return article.is_visible or (user is not None and (article.poster is user or user.moderates(article.groups)))

    def karma(self, user: User) -> int:
        """
        The sum of others' votes on a user's texts. Removed ones give none; nobody sees that of a user who has left.
        """
        if user.has_left:
            return 0
        articles = [each for each in self.articles.values() if each.poster is user and each.state != "REMOVED"]
        comments = [each for each in self.comments.values() if each.poster is user and each.state != "REMOVED"]
        return sum(subject.votes - 1 for subject in (*articles, *comments))

    def comment_count(self, article: Article) -> int:
        return sum(each.article is article and each.is_visible for each in self.comments.values())

    def active_at(self, article: Article) -> int:
        """The time of the newest visible comment, else of the posting."""
        visible = [each for each in self.comments.values() if each.article is article and each.is_visible]
        return max([article.posted_at, *(each.posted_at for each in visible)])

    def account(self, name: str) -> User | None:
        """A user by the name in lower case, or by the pseudonym."""
        return self.users.get(name) or self.departed.get(name)

    def timeline(self, user: User) -> list[Article]:
        if user.has_left:
            return []
        return [article for article in self.visible() if article.poster is user]

    def followers(self, user: User) -> dict[User, int]:
        """When each follower has begun to follow a user."""
        return {other: other.following[user] for other in self.users.values() if user in other.following}

    def feed(self, user: User) -> list[Article]:
        shown = {user, *user.following}
        shown -= user.blocked.keys()
        return [each for each in self.visible() if each.poster in shown and each not in user.hidden]

    def by_link(self, link: str) -> list[Article]:
        return [each for each in self.visible() if each.link and canonical(each.link) == canonical(link)]

    def note_long_lists(self, listed: int) -> None:
        """Note the users who have more comments than Redis lists, `listed` of each, as older ones are being cut off."""
        counts = Counter(each.poster for each in self.comments.values() if each.poster)
        self.long_lists |= {user for user, count in counts.items() if count > listed}

    def duplicate_of(self, article: Article | None) -> Article | None:
        """The newest other article with the link of an article, of the last 30 days."""
        if article is None or not article.link:
            return None
        others = [each for each in self.by_link(article.link) if each is not article]
        duplicate = max(others, key=lambda each: (each.posted_at, each.number), default=None)
        is_late = duplicate is not None and self.now - duplicate.posted_at > DUPLICATE_WINDOW
        self.reached.count("duplicates", duplicate is not None and not is_late)
        return None if is_late else duplicate

    def text(self, id: str) -> Article | Comment | None:
        """The article or comment with an id, unless it was deleted."""
        kind, _, number = id.partition(":")
        found: Article | Comment | None = None
        if number.isdecimal():
            found = (self.articles if kind == "article" else self.comments).get(int(number))
        return found if found is not None and found.poster is not None else None

    def partition(self, article: Article) -> int:
        return self.partition_of(article.number)

    def partition_of(self, number: int) -> int:
        """The partition of an article, and of its comments, whose numbers have the same slot."""
        return number % SLOTS % self.partitions

    def actor(self, token: str | None) -> User:
        """The user of a session, who may be banned."""
        if token is None or token not in self.sessions:
            raise Refused("UNAUTHENTICATED")
        return self.sessions[token]

    def writer(self, token: str | None) -> User:
        """The user of a session who is not banned from the site."""
        user = self.actor(token)
        self.require_not_banned(user)
        return user

    def ban_of(self, user: User, group: str | None) -> Action | None:
        """The ban from the site, or from a group, that stands now and ends last."""
        bans = [each for each in self.bans_of(user) if each.group == group]
        ends = [(each.until is None, each.until or 0, index) for index, each in enumerate(bans)]
        return bans[max(ends)[-1]] if bans else None

    def bans_of(self, user: User) -> list[Action]:
        """The bans of a user that stand now, from the site or from groups."""
        bans = [each for each in user.actions if each.kind == "BAN" and not each.reverted_by]
        present = [each for each in bans if each.until is None or self.now < each.until]
        self.reached.count("bans that have ended", len(bans) - len(present))
        return present

    def require_not_banned(self, user: User, groups: Iterable[str] | None = None) -> None:
        """Refuse a user who is banned from the site, or from any of some groups."""
        for group in (None,) if groups is None else sorted(groups):
            if ban := self.ban_of(user, group):
                self.reached.count(f"refusals because of a ban from {'the site' if group is None else 'a group'}")
                raise Refused("BANNED", until=ban.until, group=group)

    def register(self, username: str, password: str, token: str) -> User:
        check_all((USERNAME.fullmatch(username), "username"), (8 <= len(password) <= 128, "password"))
        if username.lower() in self.users or username.lower() in self.names_of_before:
            self.reached.count("names of users who have left", username.lower() in self.names_of_before)
            raise Refused("USERNAME_TAKEN", "username")
        user = self.users[username.lower()] = User(username, password, self.now)
        self.sessions[token] = user
        self.version += 1
        return user

    def log_in(self, username: str, password: str, token: str) -> User:
        user = self.users.get(username.lower())
        if user is None or user.password != password:
            self.reached.count("wrong passwords")
            raise Refused("BAD_CREDENTIALS")
        self.sessions[token] = user
        return user

    def hidden_token(self) -> str:
        """A text in place of a token that no answer has shown, because an error has made its payload null."""
        self._hidden_tokens += 1
        return f"hidden {self._hidden_tokens}"

    def log_out(self, token: str | None) -> None:
        self.actor(token)
        del self.sessions[str(token)]
        self.reached.count("sessions ended")

    def change_password(self, token: str | None, current: str, new: str) -> User:
        """Change a password, which ends all other sessions of the user."""
        if token is None:
            raise Refused("UNAUTHENTICATED")
        check(8 <= len(new) <= 128, "newPassword")
        user = self.writer(token)
        if user.password != current:
            raise Refused("BAD_CREDENTIALS", "currentPassword")
        user.password = new
        self.end_password_links(user)
        self.sessions = {key: other for key, other in self.sessions.items() if other is not user or key == token}
        self.reached.count("passwords changed")
        return user

    def end_password_links(self, user: User) -> None:
        for link in self.password_links.values():
            link.is_good = link.is_good and link.user is not user

    def end_sessions(self) -> None:
        """End all sessions, as after their lifetime without use."""
        self.sessions.clear()
        self.reached.count("all sessions run out")

    def post(
        self, token: str | None, given: Mapping[str, Any], number_of_new: Callable[[User], int]
    ) -> tuple[Article | None, bool]:
        """
        Post an article. Returns it, None if it was deleted since, and whether this was a replay. `number_of_new` gives
        the number that the server has given to the article.
        """
        if token is None:
            raise Refused("UNAUTHENTICATED")
        title, link, content = given["title"].strip(), given.get("link"), given.get("content")
        groups, wrong = group_names(given.get("groups"), "groups")
        key = given.get("idempotencyKey")
        check_all(
            (1 <= len(title) <= 300, "title"),
            (is_link(link) if link else content, "link"),
            *wrong,
            (wrong or len(groups) <= GROUPS_OF_AN_ARTICLE, "groups"),
            (key is None or 1 <= len(key) <= 200, "idempotencyKey"),
        )
        poster = self.writer(token)
        self.require_not_banned(poster, groups)
        post_input = (title, link or None, content or None, tuple(sorted(groups)))
        if key is not None and key in poster.posted:
            at, earlier_input, earlier = poster.posted[key]
            if self.now - at <= DAY:
                return self._replayed(earlier_input, earlier, post_input)
        if key is None and post_input in poster.recent:
            at, first = poster.recent[post_input]
            if self.now - at <= REPEAT and first.number in self.articles:
                self.reached.count("double clicks")
                return first, True
        rule = self.verdicts.of_new(poster, {"title": title, "link": link, "content": content})
        number = self.new_number(number_of_new(poster))
        article = Article(number, title, link or None, content or None, poster, self.now, set(groups), up={poster})
        self.articles[number] = article
        self.hold(article, rule)
        if key is not None:
            poster.posted[key] = (self.now, post_input, article)
        else:
            poster.recent[post_input] = (self.now, article)
        self.version += 1
        return article, False

    def hold(self, text: Article | Comment, rule: str | None) -> None:
        """Hold a new text because of a rule, so that nobody hears of it before it is approved."""
        if rule is not None:
            text.state, text.is_announced, text.rule = "PENDING", False, rule
            self.reached.count(f"{type(text).__name__.lower()}s that are held")

    def add_imported(self, number: int, story: Story) -> Article:
        """An article with the votes of its poster and of voters who are no users."""
        poster = self.users[story.poster.lower()]
        up = {poster, *(User(f"voter {each}", password="", joined_at=0) for each in range(1, story.votes))}
        number = self.new_number(number)
        article = Article(
            number,
            story.title,
            story.link,
            content=None,
            poster=poster,
            posted_at=story.posted_at,
            groups=story.groups,
            up=up,
        )
        self.articles[number] = article
        self.version += 1
        return article

    def new_number(self, number: int) -> int:
        """The number that the server has given to a new article, comment or action."""
        if number in self.numbers:
            raise AssertionError(f"number {number} was given out twice")
        self.numbers.add(number)
        return number

    def _replayed(self, earlier_input: Any, article: Article, post_input: Any) -> tuple[Article | None, bool]:
        if earlier_input != post_input:
            self.reached.count("idempotency mismatches")
            raise Refused("IDEMPOTENCY_MISMATCH", "idempotencyKey")
        is_there = article.number in self.articles
        self.reached.count("replays of posts" if is_there else "replays of deleted posts")
        return article if is_there else None, True

    def vote(self, token: str | None, id: str, value: str) -> tuple[Article, bool]:
        """Set a vote on an article. Returns the article, and whether the vote has changed."""
        if token is not None and is_id("article", id):
            self.verdicts.require_vote(self.writer(token), value)
        article, voter = self._found(token, id)
        if self.has_voters(article):
            self.require_not_banned(voter, article.groups)
        return article, self.cast(article, voter, value, "articleId")

    def cast(self, subject: Article | Comment, voter: User, value: str, field: str) -> bool:
        """Set a vote, and return whether it has changed."""
        if not self.has_voters(subject):
            self.reached.count("votes after the window")
            raise Refused("VOTING_CLOSED", field, closedAt=self.closes_at(subject))
        self._require_votable(subject, field)
        if self.now == self.closes_at(subject):
            self.reached.count("votes at the last instant")
        if value == vote_of(subject, voter):
            return False
        if voter is subject.poster:
            raise Refused("FORBIDDEN", "value")
        if voter in subject.annulled:
            subject.annulled[voter] = subject.annulled[voter]._replace(value=value)
            self.reached.count("votes in place of annulled ones")
        else:
            set_vote(subject, voter, value)
        subject.cast_at.pop(voter, None)
        if value != "NONE":
            subject.cast_at[voter] = self.now
        self.version += 1
        return True

    def _require_votable(self, subject: Article | Comment, field: str) -> None:
        article = subject.article if isinstance(subject, Comment) else subject
        if article.is_locked:
            self.reached.count(f"votes on locked {type(subject).__name__.lower()}s")
            raise Refused("LOCKED", field)
        if not (subject.is_visible and article.is_visible):
            self.reached.count("votes on what is not visible")
            raise Refused("FORBIDDEN", field)

    def edited(self, token: str | None, given: Mapping[str, Any]) -> tuple[Article, dict[str, Any], str | None]:
        """
        The article that an edit is about, what it changes, and the rule that holds it, None if none does. Fields that
        are left out keep their values; null removes a link or content.
        """
        if token is None:
            raise Refused("UNAUTHENTICATED")
        changes = {name: given[name] for name in ("title", "link", "content") if name in given}
        if "title" in changes:
            changes["title"] = (changes["title"] or "").strip()
        check_all(
            (is_id("article", given["articleId"]), "articleId"),
            ("title" not in changes or 1 <= len(changes["title"]) <= 300, "title"),
            (not changes.get("link") or is_link(changes["link"]), "link"),
        )
        article = self._own(token, given["articleId"])
        if article.state == "REMOVED":
            self.reached.count("edits of what is removed")
            raise Refused("FORBIDDEN", "articleId")
        rule = self.verdicts.of_edit(article.poster, changes)
        self.reached.count("edits of what is pending", article.state == "PENDING")
        link, content = changes.get("link", article.link), changes.get("content", article.content)
        check(link or content or not changes, "link")
        return article, changes, rule

    def forget_cleared_flags(self, subject: Article | Comment) -> None:
        """Let an edited text be flagged again by those whose flags a moderator has cleared."""
        cleared = [user for user, flag in subject.flags.items() if flag.cleared_by is not None]
        self.reached.count("cleared flags of what is edited", len(cleared))
        for user in cleared:
            del subject.flags[user]

    def delete(self, token: str | None, id: str) -> str:
        article = self._own(token, id)
        self.drop(article)
        return f"article:{article.number}"

    def drop(self, article: Article) -> None:
        """Delete an article with its comments."""
        del self.articles[article.number]
        orphans = {number for number, comment in self.comments.items() if comment.article is article}
        notified = [article.notified, *(self.comments[number].notified for number in orphans)]
        self.reached.count("notifications whose cause is deleted", any(notified))
        self.orphans |= orphans
        self.comments = {number: each for number, each in self.comments.items() if number not in orphans}
        self.reached.count("articles deleted with comments", bool(orphans))
        self.version += 1

    def regroup(self, token: str | None, given: Mapping[str, Any]) -> Article:
        """Add an article to groups, then remove it from groups. A group that is in both lists is removed."""
        if token is None:
            raise Refused("UNAUTHENTICATED")
        add, wrong_adds = group_names(given.get("add"), "add")
        remove, wrong_removes = group_names(given.get("remove"), "remove")
        check_all((is_id("article", given["articleId"]), "articleId"), *wrong_adds, *wrong_removes)
        article = self._own(token, given["articleId"])
        if not article.is_visible:
            raise Refused("FORBIDDEN", "articleId")
        if article.is_locked:
            raise Refused("LOCKED", "articleId")
        after = (article.groups | set(add)) - set(remove)
        for name in after - article.groups:
            if newest_standing((each for each in article.actions if each.group == name), "REMOVE"):
                self.reached.count("groups that an article was taken out of")
                raise Refused("FORBIDDEN", "add")
        check(len(after) <= GROUPS_OF_AN_ARTICLE, "add")
        self.require_not_banned(article.poster, after - article.groups)
        if after != article.groups:
            self.reached.count("group moves")
        article.groups = after
        self.version += 1
        return article

    def follow(self, token: str | None, id: str, begin: bool) -> tuple[User, bool]:
        """Begin or end to follow a user. Returns the user, and whether anything has changed."""
        if token is None:
            raise Refused("UNAUTHENTICATED")
        kind, _, name = id.partition(":")
        check(kind == "user" and USERNAME.fullmatch(name), "userId")
        follower, followee = self.writer(token), self.users.get(name.lower())
        if followee is None:
            raise Refused("NOT_FOUND", "userId")
        if followee is follower:
            raise Refused("SELF_FOLLOW", "userId")
        if begin and followee in follower.blocked:
            self.reached.count("follows of the blocked")
            raise Refused("INVALID", "userId")
        changed = begin != (followee in follower.following)
        if changed and begin:
            follower.following[followee] = self.now
        elif changed:
            del follower.following[followee]
            self.reached.count("follows ended")
        self.version += changed
        return followee, changed

    def mark_seen(self, user: User, through: Key) -> None:
        """Move the mark of a feed, never back."""
        if user.mark is None or through > user.mark:
            user.mark = through
            self.version += 1
        else:
            self.reached.count("marks that would move back")

    def _found(self, token: str | None, id: str) -> tuple[Article, User]:
        """An article by its id, and the user of the session, who may not be banned from the site."""
        if token is None:
            raise Refused("UNAUTHENTICATED")
        number = number_of(id)
        actor = self.writer(token)
        if number not in self.articles:
            raise Refused("NOT_FOUND", "articleId")
        return self.articles[number], actor

    def _own(self, token: str | None, id: str) -> Article:
        """An article by its id, which the user of the session has to have posted."""
        article, actor = self._found(token, id)
        if article.poster is not actor:
            raise Refused("FORBIDDEN", "articleId")
        return article


@lru_cache(maxsize=1_000)
def canonical(link: str) -> str:
    """The form in which links are compared, of those that the generator writes."""
    host, _, rest = link.partition("://")[2].partition("#")[0].partition("/")
    path, _, query = rest.partition("?")
    kept = [part for part in query.split("&") if part and not part.startswith("utm_")]
    return "/".join([host.lower().removesuffix(":443").removesuffix("."), "?".join([path, *kept])])
