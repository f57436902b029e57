"""Erasures that are not finished; steps that take long, stored so that all processes of a server ask the same; teachers who are locked; how
often an exam can be begun, and when its results are told.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table and the columns. Nobody is locked; tests that are published already have results at once and no limits."""
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("rewritten", sa.Boolean, nullable=False),
    )
    op.add_column("outcome", sa.Column("step", sa.JSON))
    op.add_column("teacher", sa.Column("locked", sa.DateTime))
    op.add_column("published", sa.Column("results", sa.String(10), nullable=False, server_default="at once"))
    for name in ("per_browser", "per_address"):
        op.add_column("published", sa.Column(name, sa.Integer))


def downgrade() -> None:
    """Drop them."""
    for name in ("results", "per_browser", "per_address"):
        op.drop_column("published", name)
    op.drop_column("teacher", "locked")
    op.drop_column("outcome", "step")
    op.drop_table("erasure")
