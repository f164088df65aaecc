"""
Random inputs of the mutations of moderators, which the soak test sends to a server: mostly what they may do, to what is
new or was done lately. A text is an article or a comment, an action what a moderator has done.
"""

from random import Random
from typing import Any

from tests.soak.model import Model
from tests.soak.records import Action, Article, Comment
from tests.soak.requests import instant
from tests.soak.variables import GROUPS, SLOT, WRONG_GROUPS, WRONG_IDS, ValueGenerator

REASONS = ("an advertisement", "off topic", "  twice  ", "日本語")
FLAG_REASONS = ("SPAM", "ABUSE", "OFF_TOPIC", "ILLEGAL", "OTHER")
FINAL = ("REVERT", "PURGE", "REJECT_EDIT")  # kinds of actions that cannot be reverted
NEWEST = (2, 6, 30)  # a text is chosen among so many of the newest
UNKNOWN_ACTION, UNKNOWN_ARTICLE = "action:1541", "article:1541"  # ids that no server of the soak gives


def is_in_steps(action: Action) -> bool:
    """Whether the server carries out an action, and its revert, in steps: a history has a step for each of them."""
    return action.removes_texts or action.annulment is not None


def any_text(random: Random, model: Model) -> Article | Comment | None:
    """An article or a comment to purge, mostly a new one."""
    texts: list[Article | Comment] = [*model.articles.values()]
    if model.comments and random.random() < 0.5:
        texts = [each for each in model.comments.values() if not each.is_stub]
    return random.choice(texts if random.random() < 0.3 else texts[-10:]) if texts else None


class ModeratorInputs(ValueGenerator):
    """
    Chooses the inputs of the mutations of moderators, and of flags and saved texts: `_input_NAME` makes that of the
    mutation with this name, in lower case.
    """

    def _input_removecontent(self) -> dict[str, Any]:
        given = self._texts() | {"subjectId": self._subject()}
        if self.random.random() < 0.3:
            given["group"] = self._place(given["subjectId"])
        return given

    def _input_approvecontent(self) -> dict[str, Any]:
        given = self._texts() | {"subjectId": self._with_edit(0.3) or self._subject(hidden=0.75)}
        if self._chance(0.3):
            given["reason"] = None
        return given

    def _input_rejectedit(self) -> dict[str, Any]:
        return self._texts() | {"subjectId": self._with_edit(0.8) or self._subject()}

    def _with_edit(self, chance: float) -> Any:
        """The id of a text whose edit waits, with this probability, if there is one."""
        subjects: list[Article | Comment] = [*self.model.articles.values(), *self.model.comments.values()]
        held = [each for each in subjects if each.held_edit]
        return self._id(self.random.choice(held)) if held and self._chance(chance) else None

    def _input_lockarticle(self) -> dict[str, Any]:
        articles = list(self.model.articles.values())
        given = self._texts() | {"articleId": self._article(articles[-self.random.choice(NEWEST) :])}
        if self._chance():
            given["articleId"] = self._articleId(SLOT, {})
        if self._chance(0.2):
            given["group"] = self.random.choice(GROUPS)
        return given

    def _input_revertmoderation(self) -> dict[str, Any]:
        """Mostly an action that stands, so that it does not stand for long."""
        actions = list(self.model.actions.values())
        actions = [each for each in actions if not is_in_steps(each)]
        standing = [each for each in actions if each.reverted_by is None and each.kind not in FINAL]
        known = standing if standing and not self._chance(0.12) else actions
        content = [each for each in known if isinstance(each.subject, Article | Comment)]
        chosen = content if content and not self._chance(0.15) else known
        given = self._texts()
        if not chosen or self._chance(0.02):
            return given | {"actionId": self.random.choice((*WRONG_IDS, UNKNOWN_ACTION))}
        return given | {"actionId": self._action(self.random.choice(chosen[:4] + chosen[-4:]))}

    def _input_grantrole(self) -> dict[str, Any]:
        group = self.random.choice((None, *GROUPS))
        role = "ADMIN" if self._chance(0.15 if group is None else 0.03) else "MODERATOR"
        given = {"userId": f"user:{self._username(SLOT, {})}", "role": role, "group": group}
        return {**given, "reason": self._texts()["reason"]}

    def _input_revokerole(self) -> dict[str, Any]:
        """Mostly a role that somebody has, but seldom that of the last admin."""
        held = [(user, *place) for user in self.model.users.values() for place in user.roles]
        if not held or self._chance(0.1):
            return self._input_grantrole()
        admins = [(user, role, group) for user, role, group in held if role == "ADMIN"]
        others = [(user, role, group) for user, role, group in held if role != "ADMIN"] or held
        user, role, group = self.random.choice(admins if self._chance(0.15) and admins else others)
        reason = self._texts()["reason"]
        return {"userId": f"user:{user.name}", "role": role, "group": group, "reason": reason}

    def _input_banuser(self) -> dict[str, Any]:
        """Mostly of somebody without a role, from a group, and for some seconds."""
        given = self._texts() | {"userId": f"user:{self._username(SLOT, {})}"}
        others = [each for each in self.model.users.values() if not each.roles]
        if others and not self._chance(0.3):
            given["userId"] = f"user:{self.random.choice(others).name}"
        seconds = (1, 4, 10)
        if self.random.random() < 0.6:
            given["group"] = self.random.choice((*GROUPS, *WRONG_GROUPS) if self._chance(0.05) else GROUPS)
            seconds = (4, 20, 60)
        if not self._chance(0.15):
            wrong = self.random.choice((0, -1))
            given["until"] = instant(
                self.model.now + (wrong if self._chance() else 1_000 * self.random.choice(seconds))
            )
        return given

    def _input_appeal(self) -> dict[str, Any]:
        """Mostly against what is about the viewer, and was not reverted."""
        actions = list(self.model.actions.values())
        about = [each for each in actions if self.viewer in (each.subject, getattr(each.subject, "poster", None))]
        return self._appealed([each for each in about if not each.reverted_by] or about or actions)

    def _input_answerappeal(self) -> dict[str, Any]:
        """Mostly an appeal that waits."""
        actions = [each for each in self.model.actions.values() if each.appeal]
        return self._appealed([each for each in actions if each.appeal and not each.appeal.answered_by] or actions)

    def _appealed(self, actions: list[Action]) -> dict[str, Any]:
        given = {"actionId": UNKNOWN_ACTION, "text": self.random.choice(("why?", "  why? ", "it was me", "日本語"))}
        if actions and not self._chance(0.1):
            given["actionId"] = self._action(self.random.choice(actions[-4:]))
        elif self.known.actions:
            given["actionId"] = self.random.choice(list(self.known.actions.values()))
        return given | {"text": " "} if self._chance() else given

    def _input_flag(self) -> dict[str, Any]:
        """Mostly what is new and somebody else's."""
        given: dict[str, Any] = {"subjectId": self._flagged(), "reason": self.random.choice(FLAG_REASONS)}
        if self._chance(0.3):
            given["note"] = self.random.choice(("see the last one", "  ", None))
        return given

    def _input_unflag(self) -> dict[str, Any]:
        """Mostly what the viewer has flagged."""
        subjects: list[Article | Comment] = [*self.model.articles.values(), *self.model.comments.values()]
        flagged = [each for each in subjects if self.viewer in each.flags]
        return {"subjectId": self._id(self.random.choice(flagged)) if flagged else self._flagged()}

    def _input_save(self) -> dict[str, Any]:
        return {"subjectId": self._flagged()}

    def _input_unsave(self) -> dict[str, Any]:
        """Mostly what the viewer has saved."""
        known = [*self.known.articles, *self.known.comments]
        saved = [each for each in self.viewer.saved if each.number in known] if self.viewer else []
        return {"subjectId": self._id(self.random.choice(saved)) if saved else self._flagged()}

    def _flagged(self) -> Any:
        """The id of a text to flag: mostly one that is new and somebody else's, often one that others have flagged."""
        if self._chance():
            return self._nodeId(SLOT, {})
        of_comment = bool(self.model.comments) and self.random.random() < 0.5
        subjects: list[Any] = list((self.model.comments if of_comment else self.model.articles).values())
        others = [each for each in subjects if each.poster is not self.viewer] or subjects
        flagged = [each for each in others if each.flags and each.is_visible and self.viewer not in each.flags]
        if flagged and self._chance(0.5):
            others = flagged
        return self._id(self.random.choice(others[-self.random.choice(NEWEST) :])) if others else UNKNOWN_ARTICLE

    def _texts(self) -> dict[str, Any]:
        """What a moderator writes with an action: a reason, and sometimes a note."""
        given: dict[str, Any] = {"reason": self.random.choice(REASONS)}
        if self._chance():
            given["reason"] = self.random.choice(("", "  ", "x" * 1_001))
        if self._chance(0.3):
            given["note"] = self.random.choice(("see the last one", "  ", None))
        return given

    def _subject(self, hidden: float = 0.1) -> Any:
        """The id of an article or a comment, of one that is hidden with this probability."""
        if self._chance():
            return self._nodeId(SLOT, {})
        subjects: list[Article | Comment] = list(self.model.articles.values())
        if self.model.comments and self.random.random() < 0.5:
            subjects = [each for each in self.model.comments.values() if not each.is_stub]
        if self._chance(hidden):
            subjects = [each for each in subjects if not each.is_visible] or subjects
        elif self._chance(0.3):
            subjects = self._answered() or subjects
        if not subjects:
            return self._articleId(SLOT, {})
        if self._chance(0.15):
            return self._id(self.random.choice(subjects))
        return self._id(self.random.choice(subjects[-self.random.choice(NEWEST) :]))

    def _answered(self) -> list[Article | Comment]:
        """What has replies, or answers a comment that is hidden."""
        comments = [each for each in self.model.comments.values() if each.parent]
        parents = [each.parent for each in comments if each.parent and not each.parent.is_stub]
        below = [each for each in comments if each.parent and not each.parent.is_visible and not each.is_stub]
        return [*parents, *below]

    def _place(self, id: Any) -> str:
        """Mostly a group in which the subject is."""
        if self._chance(0.05):
            return self.random.choice((*WRONG_GROUPS, *GROUPS))
        subjects = [*self.model.articles.values(), *self.model.comments.values()]
        subject = next((each for each in subjects if self._id(each) == id), None)
        article = subject.article if isinstance(subject, Comment) else subject
        return self.random.choice(sorted(article.groups)) if article and article.groups else self.group

    def _action(self, action: Action) -> Any:
        """The reference to the id of an action."""
        return self.known.actions[action.number]
