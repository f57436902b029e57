"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "teacher",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("email", sa.String(254), nullable=False, unique=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.String(200)),
        sa.Column("is_owner", sa.Boolean, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
    )
    op.create_table(
        "link",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE")),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime),
    )
    op.create_table(
        "login",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("token", sa.String(64), nullable=False, unique=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime),
    )
    op.create_table(
        "bank",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("version", sa.String(16), nullable=False),
        sa.Column("model_version", sa.String(16), nullable=False),
        sa.Column("media", sa.JSON, nullable=False),
        sa.Column("media_hash", sa.String(64), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("questions", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.UniqueConstraint("teacher_id", "version", "media_hash"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "media",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "published",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False),
        sa.Column("bank_id", sa.Integer, sa.ForeignKey("bank.id"), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("code", sa.String(12), nullable=False, unique=True),
        sa.Column("rules", sa.JSON, nullable=False),
        sa.Column("mode", sa.String(10), nullable=False),
        sa.Column("minutes", sa.Float),
        sa.Column("opens", sa.DateTime),
        sa.Column("closes", sa.DateTime),
        sa.Column("retakes", sa.String(10), nullable=False),
        sa.Column("by_list", sa.Boolean, nullable=False),
        sa.Column("keep_days", sa.Integer),
        sa.Column("created", sa.DateTime, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "pupil",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("test_id", sa.Integer, sa.ForeignKey("published.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("code", sa.String(12), nullable=False, unique=True),
    )
    op.create_table(
        "attempt",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(32), nullable=False, unique=True),
        sa.Column("code", sa.String(12), nullable=False, unique=True),
        sa.Column("test_id", sa.Integer, sa.ForeignKey("published.id", ondelete="CASCADE"), nullable=False),
        sa.Column("pupil_id", sa.Integer, sa.ForeignKey("pupil.id", ondelete="SET NULL"), index=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("started", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
        sa.Column("reason", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_attempt_test_pupil", "attempt", ["test_id", "pupil_id"])
    op.create_table(
        "event",
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("step", sa.Integer, primary_key=True),
        sa.Column("question", sa.String(200), nullable=False),
        sa.Column("answer", sa.String(200)),
        sa.Column("entry", sa.Text),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "tries",
        sa.Column("kind", sa.String(20), primary_key=True),
        sa.Column("who", sa.String(64), primary_key=True),
        sa.Column("began", sa.DateTime, nullable=False, index=True),
        sa.Column("count", sa.Integer, nullable=False),
    )
    op.create_table(
        "reply",
        sa.Column("token_id", sa.Integer, sa.ForeignKey("token.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("route", sa.String(200), nullable=False),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempt.id", ondelete="CASCADE"), index=True),
        sa.Column("created", sa.DateTime, nullable=False, index=True),
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("reply", "tries", "event", "attempt", "pupil", "published", "media", "bank", "token", "login", "link", "teacher"):
        op.drop_table(name)
