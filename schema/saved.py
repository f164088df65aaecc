"""What the viewer saves, to read it later."""

from typing import Self

import strawberry

from resolvers import saved
from resolvers.saved import SavedSubject
from schema.articles import Votable
from schema.mutations import Payload, mutation, nullable


@strawberry.input(description="An article or a comment to save, or not to save any more.")
class SaveInput:
    subject_id: strawberry.ID = strawberry.field(description="The id of the article or comment.")


@strawberry.type(description="What was saved, or is not saved any more.")
class SavePayload(Payload):
    subject: Votable | None = nullable("The article or comment; null if it was deleted, or is not visible.")
    changed: bool = strawberry.field(default=False, description="False if it was already so.")

    @classmethod
    def of(cls, result: SavedSubject) -> Self:
        return cls.of_records(subject=result.subject, changed=result.changed)


@strawberry.type
class SavedMutations:
    save: SavePayload | None = mutation(
        saved.save,
        SavePayload,
        SaveInput,
        "Save an article or a comment, to read it later; at most 10,000. Only the viewer sees what they have saved. "
        "Doing so twice has no effect.",
    )
    unsave: SavePayload | None = mutation(
        saved.unsave, SavePayload, SaveInput, "Take an article or a comment out of what the viewer has saved."
    )
