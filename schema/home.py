"""The viewer's home."""

import strawberry

from resolvers import home, saved
from schema.articles import Votable
from schema.connections import Connection
from schema.fields import field_of, root_field
from schema.nodes import Node, instances_of
from store import records


@strawberry.type(description="The viewer's own front page, and what it is made of.")
class Home(Node):
    is_type_of = instances_of(records.Home)

    saved: Connection[Votable] = field_of(
        saved.of_homes,
        "The articles and comments that the viewer has saved, the latest saved first. What was deleted leaves the list "
        "when it is read, so `totalCount` may count it for a while.",
    )


@strawberry.type
class HomeQueries:
    home: Home | None = root_field(home.home, "The viewer's home; null if nobody is logged in.")
