"""Erasures that are not finished: what was erased is still to be made unreadable in the files."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("rewritten", sa.Boolean, nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("erasure")
