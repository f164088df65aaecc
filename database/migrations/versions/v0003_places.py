"""
The places of archived articles, which only the database has, in listings: an index of each listing, its places (an
article with its value), and how many places its ranges have. `database/order_index` explains the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0003_places"
down_revision = "v0002_search"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "listings",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("votes_class", sa.Integer, nullable=False),
        sa.Column("weights", sa.Text, nullable=False),
        sa.Column("size", NUMBER, nullable=False),
    )
    op.create_index("listings_by_name", "listings", ["name", "votes_class"], unique=True)
    op.create_table(
        "places",
        sa.Column("listing", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("value", sa.Double, primary_key=True, autoincrement=False),
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("extra", NUMBER),
        sqlite_with_rowid=False,
    )
    op.create_index("places_by_number", "places", ["number", "listing"])
    op.create_table(
        "place_counts",
        sa.Column("listing", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("value", sa.Double, primary_key=True, autoincrement=False),
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("size", NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
