"""Erasures that are not finished, and steps that take long: what comes next is stored, so that all processes of a server ask the same."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table and the column."""
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("rewritten", sa.Boolean, nullable=False),
    )
    op.add_column("outcome", sa.Column("step", sa.JSON))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("outcome", "step")
    op.drop_table("erasure")
