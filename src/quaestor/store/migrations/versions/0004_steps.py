"""What comes next in tests whose steps take long is stored, so that all processes of a server ask the same."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; what is not stored is worked out when it is needed."""
    op.add_column("outcome", sa.Column("step", sa.JSON))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("outcome", "step")
