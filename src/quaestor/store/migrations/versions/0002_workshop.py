"""The tables of the workshop: banks being written, and work in the background."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "draft",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("head", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
    )
    op.create_table(
        "edition",
        sa.Column("draft_id", sa.Integer, sa.ForeignKey("draft.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("media", sa.JSON, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("by_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="SET NULL")),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "colleague",
        sa.Column("draft_id", sa.Integer, sa.ForeignKey("draft.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), primary_key=True),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("subject", sa.String(40), nullable=False),
        sa.Column("asked", sa.JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False, index=True),
        sa.Column("share", sa.Float, nullable=False),
        sa.Column("found", sa.JSON, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("worker", sa.String(64), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("beat", sa.DateTime, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False, index=True),
        sa.Index("ix_job_teacher_subject", "teacher_id", "subject"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("job", "colleague", "edition", "draft"):
        op.drop_table(name)
