"""When takers of a test see their result, and how often it can be begun in one browser and from one address."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the columns; tests that are published already stay as they are: results at once, no limits."""
    op.add_column("published", sa.Column("results", sa.String(10), nullable=False, server_default="at once"))
    for name in ("per_browser", "per_address"):
        op.add_column("published", sa.Column(name, sa.Integer))


def downgrade() -> None:
    """Drop them."""
    for name in ("results", "per_browser", "per_address"):
        op.drop_column("published", name)
