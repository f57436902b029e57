"""Sections and sessions of delivery systems that use this server as their adaptive engine (CAT 1.0)."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "cat_section",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("bank_id", sa.Integer, sa.ForeignKey("bank.id"), nullable=False, index=True),
        sa.Column("rules", sa.JSON, nullable=False),
        sa.Column("sent", sa.JSON, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "cat_session",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("section_id", sa.Integer, sa.ForeignKey("cat_section.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("log", sa.Text, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False, index=True),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("cat_session", "cat_section"):
        op.drop_table(name)
