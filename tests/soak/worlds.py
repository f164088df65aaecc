"""
A world: a server with random settings, and a random history of requests, whose answers a model of it checks.

A document is a GraphQL text, an operation is a document with variables and a token, and a step is what is sent or
happens at one instant of the history. An issuer is an identity provider whose tokens log users in. The mirror is the
SQL database that follows Redis.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tests.soak import announcing, bearers, issuers, stepwise
from tests.soak.archiving import QUIET, chosen_limits, quiet_time, stories
from tests.soak.banned_texts import MOST_TEXTS_AT_ONCE, texts_of
from tests.soak.crowds import Crowd
from tests.soak.databases import Databases
from tests.soak.documents import ACTING, HASHING, MODERATION, MUTATIONS, Document, DocumentGenerator, input_variable
from tests.soak.history import SHELL, Operation, Ref, Step, StepKind
from tests.soak.inputs import PASSWORDS, VariableGenerator
from tests.soak.leaving import UNTIL_DONE
from tests.soak.model import Mirror
from tests.soak.moderators import any_text
from tests.soak.notes import POSTED
from tests.soak.records import Article, Comment, User
from tests.soak.running import Difference, HistoryRun, is_search
from tests.soak.server import ROOT
from tests.soak.steps import run_step
from tests.soak.subscribing import SUBSCRIPTIONS
from tests.soak.viewers import Subscribing, subscribing, viewing
from tests.soak.world_settings import Settings, settings_of

BEGINNING = 1_600_000_000_000  # unix milliseconds
USERS = ("alice", "Bob", "carol", "Dave-1", "eve_x", "Frank")
ADMIN = "alice"
# name, role and group; None for the whole site
MODERATORS = (("Bob", "MODERATOR", None), ("carol", "MODERATOR", "show"), ("Dave-1", "MODERATOR", "ask"))
IMPORTED_USERS = 4  # of USERS, who have posted the imported stories; the others begin without articles
MOST_ARTICLES = 120
MOST_COMMENTS = 180  # the deletion of an article waits for its first 200 to be removed
READS, WRITES = 60, 60  # documents that are kept, and sent again with other variables
NEW = 0.04  # share of reads, and of writes, whose document is a new one
# Shares of the steps in which
EXPORTS, PURGES = 0.004, 0.003  # a user takes their data along; a text is purged
TOLD = 0.01  # something is written beside subscriptions to what is new
TOKENS = 0.015  # the token of an issuer is exchanged for a session
BEARERS, ENDS = 0.02, 0.001  # such a token is sent itself; the end of one ends sockets
RESETS, LEAVING = 0.005, 0.006  # a user gets a link to choose a password; a user leaves, or comes
LAG = 20_000  # milliseconds that the clock of a world may be behind the real one, by which Redis expires voters
DAY = "day"  # an event that moves the clock by a fifth of the lifetime of sessions
EVENTS = (StepKind.CONNECTIONS_BREAK, StepKind.RESTART, StepKind.KILL, StepKind.SESSIONS_END, DAY)
BETWEEN_EVENTS, BETWEEN_FAULTS = 500, 400  # operations
FAULT_OPERATIONS = {"locked": 40, "killed": 25, "paused": 6}  # sent during each fault; when paused, one takes seconds
NOT_BESIDE_FAULTS = (*HASHING, *MODERATION, "answerAppeal", "editProfile")  # mutations
TEXTS = ("post", "comment", "editArticle", "editComment", "regroupArticle")  # mutations that change what searches find
SHOWN = ("removeContent", "removeContent", "approveContent", "revertModeration")  # likewise, by moderators
INDEPENDENT = ("post", "comment", "vote", "voteOnComment", "followUser", "unfollowUser")  # sent by many at once
INPUT = input_variable("m0")  # the variable that has the input of the first mutation of a document


class World:
    """A server, the model of it, and the random steps that are run on both, which `steps` has."""

    def __init__(self, seed: int, databases: Databases, root: Path = ROOT, settings: Settings | None = None) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.settings = settings or settings_of(seed)
        self.server = self.settings.server(databases, root)
        self.run = HistoryRun(self.server, self.settings.policy, self.settings.partitions)
        self._known = self.run.notes.known  # ids, tokens and cursors of earlier answers
        self.steps: list[Step] = []
        self._crowd = Crowd(self.random, self.run.model, self._known)
        self._reading: list[Document] = []  # kept queries and, below, mutations: see READS
        self._writing: list[Document] = []
        self._bearers: list[str] = []  # tokens of an issuer that were sent themselves
        self._now = BEGINNING
        self._posts = 0  # articles and comments that were posted at the present instant
        self._began = time.monotonic()
        self._ahead = 0.0  # milliseconds by which the clock has been ahead of the real time at most
        self._operations = self._count = 0  # operations sent, and the number of the last one
        self._events: list[str] = []  # that are still to come in this round; the next one after `_event_at` operations
        self._event_at = self.random.randint(1, BETWEEN_EVENTS)
        self._faults: list[str] = []
        self._present_fault = ""
        self._fault_at = self.random.randint(1, BETWEEN_FAULTS)
        self._healed_at = 0

    async def generate(self, operations: int, until: float) -> None:
        """
        Run `operations` operations, at most until an instant of the monotonic clock.

        Raises:
            Difference: the server does not answer as the model does.
        """
        self.server.clock.set(self._now)
        self.server.start()
        await self.server.ready()
        for step in self._beginning():
            await self._do(step)
        while self._operations < operations and time.monotonic() < until:
            await self._do(self._next())
            await self._log_in_again()

    async def _do(self, step: Step) -> None:
        self.steps.append(step)
        await run_step(self.run, step)

    def _beginning(self) -> Iterator[Step]:
        for index, name in enumerate(USERS):
            given = {INPUT: {"username": name, "password": "correct horse 1"}}
            document = self._generator().mutation("register")
            generator = VariableGenerator(self.random, self.run.model, self._known, viewer=None)
            values = generator.variables(document) | given
            yield self._step(StepKind.TOGETHER, [self._operation(document, viewer=None, variables=values)])
            self._now += index  # milliseconds
        if count := self.settings.imported:
            imported = stories(self.random, USERS[:IMPORTED_USERS], self._now, count)
            yield replace(self._step(StepKind.IMPORT, []), stories=imported)
        yield replace(self._step(StepKind.NEW_ADMIN, []), admin=ADMIN)
        for name, role, group in MODERATORS:
            given = {"userId": f"user:{name}", "role": role, "group": group, "reason": "from the beginning"}
            document = self._generator().plain_mutation("grantRole")
            admin = self.run.model.users[ADMIN]
            yield self._step(StepKind.TOGETHER, [self._operation(document, admin, {INPUT: given})])

    def _next(self) -> Step:
        """The next step: mostly a single read or write."""
        self._advance()
        if self.run.model.mirror is not Mirror.UP:
            return self._beside_fault()
        if self._operations > self._fault_at:
            return self._fault()
        if self._operations > self._event_at:
            self._event_at = self._operations + self.random.randint(1, 2 * BETWEEN_EVENTS)
            return self._event()
        if self.run.model.articles and self.random.random() < 0.015:
            return self._step(StepKind.TOGETHER, [self._last_vote()])
        if self.settings.imported and self.random.random() < 0.015:
            return self._archive()
        if answer := self._crowd.answer():
            return self._step(StepKind.TOGETHER, [self._answer_of_crowd(answer)])
        if self.random.random() < 0.02:
            return self._step(StepKind.WRITE_AND_SEARCHES, self._write_and_searches())
        if stepwise.is_due(self.random, self.run.model) and (in_steps := self._in_steps()):
            return self._step(StepKind.MODERATED_IN_STEPS, in_steps)
        if self.random.random() < LEAVING:
            return self._leave()
        if self.random.random() < 0.1:
            return self._step(StepKind.TOGETHER, [self._moderation()])
        if self.random.random() < 0.04 and (found := viewing(self.random, self.run.model, self._known)):
            operations = [self._operation(found.document, each, found.variables) for each in found.viewers]
            kinds = (StepKind.EACH_VIEWER_READS, StepKind.EACH_VIEWER_READS, StepKind.TOGETHER)
            return self._step(self.random.choice(kinds), operations)
        if about := subscribing(self.random, self.run.model, self._known):
            return self._step(StepKind.SUBSCRIBERS_OF_ARTICLE, self._subscribed(about))
        if self.random.random() < EXPORTS:
            return self._step(
                StepKind.EXPORT, [Operation(number=0, token=self._token(self._viewer(0.95)), text="", variables={})]
            )
        if self.random.random() < RESETS:
            return self._reset()
        if self.random.random() < TOKENS:
            return self._by_token()
        if self.random.random() < BEARERS:
            return self._bearer()
        if self.random.random() < ENDS and (ends := self._ends()):
            return ends
        if self.random.random() < PURGES and (purge := self._purge()):
            return purge
        if self.random.random() < TOLD:
            return self._step(StepKind.SUBSCRIBERS_OF_NEWS, self._told())
        return self._next_of_most()

    def _next_of_most(self) -> Step:
        """Reads, writes, or both at once."""
        drawn = self.random.random()  # decides about the kind
        if drawn < 0.42:
            return self._step(StepKind.TOGETHER, [self._read()])
        if drawn < 0.72:
            return self._step(StepKind.TOGETHER, [self._write()])
        if drawn < 0.84:
            return self._step(StepKind.TOGETHER, self._reads())
        if drawn < 0.90:
            return self._step(StepKind.WRITES_AT_ONCE, self._independent())
        reads = [each for _ in range(4) if is_of_now(each := self._read())][:3]
        return self._step(StepKind.READS_OVERTAKEN if reads else StepKind.TOGETHER, [*reads, self._write(alone=True)])

    def _archive(self) -> Step:
        """Reads while articles leave Redis, sometimes also quiet conversations, or only that they begin to leave."""
        if self.random.random() < QUIET:
            self._now += quiet_time(self.settings.policy) + self._posts
            self._posts = 0
        reads = [*self._reads(), *(self._read() for _ in range(3))] if self.random.random() < 0.7 else []
        return replace(
            self._step(StepKind.ARTICLES_LEAVE, reads), limits=chosen_limits(self.random, self.settings.imported)
        )

    def _fault(self) -> Step:
        """The next fault of the database or the mirror."""
        if not self._faults:
            faults = (*self.server.database.faults, "worker killed")
            self._faults = self.random.sample(faults, len(faults))
        fault = self._present_fault = self._faults.pop()
        self._fault_at = self._operations + self.random.randint(1, 2 * BETWEEN_FAULTS)
        self._healed_at = self._operations + FAULT_OPERATIONS.get(fault, 0)
        return replace(self._step(StepKind.FAULT, []), fault=fault)

    def _beside_fault(self) -> Step:
        """
        A step while the database is behind or away: searches, reads, and writes that the database may refuse as a
        whole. Nothing is pinned, as whether a pin was made would be unknown where its page is unavailable. Nothing is
        written beside a paused database: what waits for it twice takes longer than any answer may.
        """
        if self._operations >= self._healed_at:
            return self._step(StepKind.HEALED, [])
        drawn = self.random.random()  # decides about the kind
        if drawn < 0.3 and self._present_fault != "paused":
            names = [*TEXTS, *(name for name in MUTATIONS if name not in NOT_BESIDE_FAULTS)]
            write = self._generator().plain_mutation(self.random.choice(names))
            self._posts += sum(each in POSTED for _, each in write.mutations)
            return self._step(StepKind.TOGETHER, [self._with_variables(write, self._viewer(0.96))])
        if drawn < 0.5:
            return self._step(StepKind.TOGETHER, [self._with_variables(self._generator().search(), self._viewer())])
        reads = [each for each in self._reads() if "pinned" not in each.text]
        return self._step(StepKind.TOGETHER, reads[:1] if drawn < 0.8 else reads)

    def _event(self) -> Step:
        if not self._events:
            self._events = self.random.sample(EVENTS, len(EVENTS))
        event = self._events.pop()
        if event == DAY:
            self._now += self.settings.policy.session_ttl * 200
            return self._step(StepKind.TOGETHER, [self._read()])
        if event is StepKind.SESSIONS_END:
            self._now += self.settings.policy.session_ttl * 1000 + 1_000
        return self._step(StepKind(event), [])

    def _advance(self) -> None:
        """
        Advance the clock: mostly not at all or by whole seconds, so that many instants and values are equal.

        It advances at least one millisecond for each article or comment posted at the last instant, as their numbers
        would otherwise run ahead of the clock. It stays within `LAG` of the real time and its greatest lead over it,
        as Redis expires the voters of what was posted then by the real time.
        """
        step = self.random.choice((0, 0, 0, 0, 1, 1, 7, 200, 1000, 1000))
        if step and step < self._posts:
            step = self._posts
        real = BEGINNING + (time.monotonic() - self._began) * 1000
        self._ahead = max(self._ahead, self._now - real)
        behind = real + self._ahead - LAG - self._now
        if behind > 0:
            step = max(step, int(behind))
        if step:
            self._posts = 0
        self._now += step
        # A viewer who has posted gets a pin at the first instant from now that has none: it must not be the next whole
        # second, at which the server makes the pin that others share.
        if self._now % 1_000 > 900:
            self._now += 1_000 - self._now % 1_000

    def _step(self, kind: StepKind, operations: list[Operation]) -> Step:
        count = 2 * len(operations)  # two each: reads that a write overtakes are sent again, over other connections
        connections = tuple(self.random.sample(range(len(self.server.connections)), count))
        self._operations += len(operations)
        return Step(kind, self._now, tuple(operations), connections)

    def _read(self) -> Operation:
        """A document that was sent before, with other variables; sometimes a new one."""
        return self._with_variables(self._repeated(self._reading, READS, self._generator().query), self._viewer())

    def _repeated(self, known: list[Document], most: int, new: Callable[[], Document]) -> Document:
        """One of the known documents, of which `most` are kept and now and then one is replaced by a new one."""
        if len(known) < most or self.random.random() < NEW:
            known.append(new())
        if len(known) > most:
            del known[self.random.randrange(most)]
        return self.random.choice(known)

    def _reads(self) -> list[Operation]:
        """Several reads at once, some of them equal."""
        chosen = [self._read() for _ in range(self.random.randint(1, 4))]
        return chosen + [self._again(self.random.choice(chosen)) for _ in range(self.random.randint(1, 5))]

    def _again(self, operation: Operation) -> Operation:
        """The same query with the same variables, by the same viewer or by another one."""
        token = operation.token if self.random.random() < 0.7 else self._token(self._viewer())
        self._count += 1
        return replace(operation, number=self._count, token=token)

    def _write(self, *, alone: bool = False) -> Operation:
        model = self.run.model
        if len(model.articles) > MOST_ARTICLES + self.settings.imported or len(model.comments) > MOST_COMMENTS:
            document = self._generator().plain_mutation("deleteArticle")
        elif alone or self.random.random() < 0.1:
            document = self._generator().mutation(alone=alone)
        else:
            document = self._repeated(self._writing, WRITES, self._generator().mutation)
        viewer = self._moderator() if is_moderation(document) else self._viewer(0.96)
        self._posts += sum(each in POSTED for _, each in document.mutations)
        return self._with_variables(document, viewer)

    def _subscribed(self, about: Subscribing) -> list[Operation]:
        """A write, and then one operation for each viewer that subscribes."""
        document = self._generator().plain_mutation(about.mutation)
        writer = self._moderator() if is_moderation(document) else self._viewer(logged_in=1)
        write = self._operation(document, writer, {INPUT: about.given})
        self._posts += about.mutation in POSTED
        subscription = Document(SUBSCRIPTIONS["articleChanged"], ())
        return [write, *(self._operation(subscription, each, {"id": about.article}) for each in about.viewers)]

    def _purge(self) -> Step | None:
        """Mostly of a new text, beside reads."""
        chosen = any_text(self.random, self.run.model)
        if chosen is None:
            return None
        reads = [each for _ in range(6) if is_of_now(each := self._read())][:4]
        return replace(self._step(StepKind.PURGE, reads), purged=self._known.id_of(chosen))

    def _told(self) -> list[Operation]:
        """A write, and then one operation for each viewer that subscribes to what is new."""
        chosen = announcing.write(self.random, self.run.model, self._known)
        document = self._generator().plain_mutation(chosen.mutation)
        writer = self._moderator() if is_moderation(document) else self._viewer(logged_in=1)
        self._posts += chosen.mutation in POSTED
        write = self._operation(document, writer, {INPUT: chosen.given})
        users = list(self.run.model.users.values())
        viewers = [None, *self.random.sample(users, min(len(users), 4))]
        subscription = Document(SUBSCRIPTIONS["articleChanged"], ())  # stands for those that `listening.tell` sends
        return [write, *(self._operation(subscription, each, {}) for each in viewers)]

    def _moderation(self) -> Operation:
        """What a moderator does."""
        (name,) = self.random.choices(list(MODERATION), list(MODERATION.values()))
        return self._with_variables(self._generator().mutation(name), self._moderator())

    def _in_steps(self) -> list[Operation]:
        """
        A ban, an annulment of votes or a revert, which the server carries out in steps, and then what the user whom it
        is about reads of their own votes.
        """
        chosen = stepwise.change(self.random, self.run.model, self._known)
        if chosen is None:
            return []
        document = self._generator().plain_mutation(chosen.mutation)
        operations = [self._operation(document, self._moderator(), {INPUT: chosen.given})]
        if not chosen.user.has_left:
            ids = {"ids": stepwise.voted_on(self.run.model, self._known, chosen.user)}
            operations.append(self._operation(Document(stepwise.VOTES, ()), chosen.user, ids))
        return operations

    def _leave(self) -> Step:
        """A user leaves, mostly one without a role, or somebody new comes, so that there are always some."""
        users = list(self.run.model.users.values())
        if len(users) < len(USERS):
            return self._step(
                StepKind.TOGETHER, [self._with_variables(self._generator().plain_mutation("register"), viewer=None)]
            )
        leavers = [
            each for each in users if not each.roles and len(texts_of(self.run.model, each)) <= MOST_TEXTS_AT_ONCE
        ]
        user = self.random.choice(leavers if leavers and self.random.random() < 0.9 else users)
        password = (user.password or None) if self.random.random() < 0.9 else "wrong horse 9"
        given = {"currentPassword": password, "texts": self.random.choice(("KEEP", "KEEP", "REMOVE"))}
        operation = self._operation(self._generator().plain_mutation("deleteUser"), user, {INPUT: given})
        step = self._step(StepKind.USER_LEAVES, [operation])
        self._now += UNTIL_DONE
        return step

    def _reset(self) -> Step:
        """A user gets a link, and mostly uses it at once."""
        user, operations = self.random.choice(list(self.run.model.users.values())), []
        link = Ref(SHELL, ("link", user.lower, self._now))
        if self.random.random() < 0.6:
            given = {"token": link, "newPassword": self.random.choice(PASSWORDS)}
            document = self._generator().plain_mutation("resetPassword")
            operations.append(self._operation(document, viewer=None, variables={INPUT: given}))
        return replace(self._step(StepKind.LINK_FOR_PASSWORD, operations), link=link)

    def _by_token(self, subject: str | None = None) -> Step:
        """Somebody exchanges the token of an issuer for a session."""
        given = {"token": issuers.token(self.random, self.run.model, subject)}
        document = self._generator().plain_mutation("logInWithToken")
        return self._step(StepKind.LOG_IN_BY_TOKEN, [self._operation(document, viewer=None, variables={INPUT: given})])

    def _bearer(self) -> Step:
        """An operation by the token of an issuer, sometimes one of before, which may have ended."""
        model = self.run.model
        if not self._bearers or self.random.random() < 0.6:
            self._bearers.append(issuers.token(self.random, model))
        text = self.random.choice(self._bearers[-5:])
        user = issuers.user_of(model, text)
        document = bearers.document(self._generator(), user)
        self._posts += sum(each in POSTED for _, each in document.mutations)
        return self._step(StepKind.TOKEN_OF_ISSUER, [replace(self._with_variables(document, user), token=text)])

    def _ends(self) -> Step | None:
        """Somebody posts by the newer of two tokens of an issuer; sockets and a stream beside it end with the other."""
        chosen = bearers.ending(self.random, self.run.model)
        if chosen is None:
            return None
        given = {"title": f"anew {self.random.randint(1, 9_999)}", "content": "by a newer token"}
        document = self._generator().plain_mutation("post")
        self._posts += 1
        operation = self._operation(document, chosen.user, {INPUT: given})
        return replace(
            self._step(StepKind.SOCKETS_END, [replace(operation, token=chosen.tokens[1])]), tokens=chosen.tokens
        )

    def _moderator(self) -> User | None:
        """Mostly an admin or a moderator of the site, often one of a group."""
        users, drawn = list(self.run.model.users.values()), self.random.random()
        if drawn < 0.4:
            return self.random.choice([each for each in users if each.is_admin])
        moderators = [each for each in users if (each.moderates_site if drawn < 0.65 else each.roles)]
        return self.random.choice(moderators) if drawn < 0.9 else self._viewer(0.96)

    def _write_and_searches(self) -> list[Operation]:
        """A write that changes what is found, often a deletion, and searches."""
        name = self.random.choice((*TEXTS, "deleteArticle", "deleteComment", "deleteComment", *SHOWN))
        self._posts += name in POSTED
        document = self._generator().plain_mutation(name)
        write = self._with_variables(
            document, self._moderator() if is_moderation(document) else self._viewer(logged_in=1)
        )
        searching = [self._with_variables(self._generator().search(), self._viewer()) for _ in range(3)]
        return [write, *searching]

    def _last_vote(self) -> Operation:
        """A vote at the last instant at which an article or a comment takes votes, or one millisecond later."""
        model, known = self.run.model, self._known
        of_comment = bool(model.comments) and self.random.random() < 0.4
        subjects: Iterable[Article | Comment] = (model.comments if of_comment else model.articles).values()
        subject = min(subjects, key=lambda each: (model.closes_at(each) < self._now, model.closes_at(each)))
        self._now = max(self._now + self._posts, model.closes_at(subject) + self.random.choice((0, 0, 1)))
        self._posts = 0
        name, field, ids = "vote", "articleId", known.articles
        if of_comment:
            name, field, ids = "voteOnComment", "commentId", known.comments
        given = {field: ids[subject.number], "value": self.random.choice(("UP", "DOWN"))}
        return self._operation(self._generator().plain_mutation(name), self._viewer(logged_in=1), {INPUT: given})

    def _answer_of_crowd(self, given: dict[str, Any]) -> Operation:
        """A comment with this input."""
        self._posts += 1
        return self._operation(self._generator().plain_mutation("comment"), self._viewer(logged_in=1), {INPUT: given})

    def _independent(self) -> list[Operation]:
        """
        Writes of different users at once. The payload of each is independent of the others. At most one is a vote on a
        comment, as the pages of a thread depend on their order.
        """
        users = self.random.sample(list(self.run.model.users.values()), self.random.randint(2, 5))
        operations = []
        for index, user in enumerate(users):
            name = self.random.choice([each for each in INDEPENDENT if each != "voteOnComment" or index == 0])
            self._posts += name in POSTED
            operations.append(self._with_variables(self._generator().plain_mutation(name), user))
        return operations

    def _viewer(self, logged_in: float = 0.8) -> User | None:
        """A random user with this probability, else a stranger."""
        users = list(self.run.model.users.values())
        return self.random.choice(users) if self.random.random() < logged_in else None

    def _with_variables(self, document: Document, viewer: User | None) -> Operation:
        generator = VariableGenerator(self.random, self.run.model, self._known, viewer)
        return self._operation(document, viewer, generator.variables(document))

    def _operation(self, document: Document, viewer: User | None, variables: dict[str, Any]) -> Operation:
        self._count += 1
        return Operation(self._count, self._token(viewer), document.text, variables, document.mutations)

    def _token(self, viewer: User | None) -> Ref | str | None:
        if viewer is None:
            return "junk" if self.random.random() < 0.05 else None
        known = self._known.sessions[viewer.lower]
        alive = [ref for token, ref in known if token in self.run.model.sessions]
        dead = [ref for token, ref in known if token not in self.run.model.sessions]
        if dead and (not alive or self.random.random() < 0.03):
            return dead[-1]
        return self.random.choice(alive[-2:]) if alive else None

    def _generator(self) -> DocumentGenerator:
        return DocumentGenerator(self.random)

    async def _log_in_again(self) -> None:
        """Sometimes log in one of the users who have no session."""
        for user in self.run.model.users.values():
            if user in self.run.model.sessions.values() or self.random.random() > 0.2:
                continue
            if not user.password:
                await self._do(self._by_token(issuers.subject_of(self.run.model, user)))
            else:
                given = {INPUT: {"username": user.name, "password": user.password}}
                document = self._generator().mutation("logIn")
                values = self._with_variables(document, viewer=None).variables | given
                await self._do(
                    self._step(StepKind.TOGETHER, [self._operation(document, viewer=None, variables=values)])
                )
            return

    async def close(self) -> None:
        try:
            await self.server.stop()
        except Exception:
            await self.server.kill()
        self.server.discard()


def is_moderation(document: Document) -> bool:
    return bool(document.mutations) and document.mutations[0][1] in (*ACTING, "answerAppeal")


def is_of_now(operation: Operation) -> bool:
    """
    Whether an operation may be sent beside a write: if it pins a listing, the content of its pin would be unknown, and
    what it searches for may be found later.
    """
    return "pinned" not in operation.text and not is_search(operation)


async def replay(settings: Settings, steps: list[Step], databases: Databases, root: Path = ROOT) -> Difference | None:
    """Run a history again on a new store, and return the first difference between server and model."""
    server = settings.server(databases, root)
    run = HistoryRun(server, settings.policy, settings.partitions)
    try:
        server.clock.set(BEGINNING)
        server.start()
        await server.ready()
        for step in steps:
            await run_step(run, step)
    except Difference as found:
        return found
    finally:
        await asyncio.shield(server.kill())
        server.discard()
    return None
