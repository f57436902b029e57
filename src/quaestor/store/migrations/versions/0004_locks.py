"""Teachers can be locked."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the column; nobody is locked."""
    op.add_column("teacher", sa.Column("locked", sa.DateTime))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("teacher", "locked")
