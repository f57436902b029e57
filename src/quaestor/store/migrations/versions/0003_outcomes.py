"""What attempts came to is stored, corrections of tests, extra time, and attempts that are set aside."""

from datetime import timedelta

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables and columns; outcomes of earlier attempts are worked out in the background when the server runs."""
    op.add_column("published", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.add_column("published", sa.Column("grades", sa.JSON))
    for name in ("pupil", "attempt"):
        op.add_column(name, sa.Column("extra", sa.Float, nullable=False, server_default="0"))
    op.add_column("attempt", sa.Column("due", sa.DateTime))
    op.add_column("attempt", sa.Column("set_aside", sa.DateTime))
    op.create_table(
        "correction",
        sa.Column("test_id", sa.Integer, sa.ForeignKey("published.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("question", sa.String(200), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("bank_id", sa.Integer, sa.ForeignKey("bank.id"), nullable=False),
        sa.Column("rules", sa.JSON, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "outcome",
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True),
        sa.Column("asked", sa.Integer, nullable=False),
        sa.Column("counted", sa.Integer, nullable=False),
        sa.Column("skipped", sa.Integer, nullable=False),
        sa.Column("right", sa.Integer, nullable=False),
        sa.Column("points", sa.Float, nullable=False),
        sa.Column("expected", sa.Float, nullable=False),
        sa.Column("skills", sa.JSON, nullable=False),
        sa.Column("bank_version", sa.String(16), nullable=False),
        sa.Column("model_version", sa.String(16), nullable=False),
        sa.Column("engine", sa.String(20), nullable=False),
        sa.Column("misfits", sa.Boolean),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    _set_due()


def _set_due() -> None:
    """When each attempt is over at the latest, by its test's time limit and closing."""
    tests = sa.table("published", *map(sa.column, ("id", "minutes")), sa.column("closes", sa.DateTime))
    attempts = sa.table("attempt", *map(sa.column, ("id", "test_id")), sa.column("started", sa.DateTime), sa.column("due", sa.DateTime))
    connection = op.get_bind()
    for test, minutes, closes in connection.execute(sa.select(tests.c.id, tests.c.minutes, tests.c.closes)).all():
        for number, started in connection.execute(sa.select(attempts.c.id, attempts.c.started).where(attempts.c.test_id == test)).all():
            limit = None if minutes is None else started + timedelta(minutes=minutes)
            due = min((moment for moment in (limit, closes) if moment is not None), default=None)
            connection.execute(attempts.update().where(attempts.c.id == number).values(due=due))


def downgrade() -> None:
    """Drop them."""
    for name in ("outcome", "correction"):
        op.drop_table(name)
    for name, columns in (("attempt", ("extra", "due", "set_aside")), ("pupil", ("extra",)), ("published", ("revision", "grades"))):
        for column in columns:
            op.drop_column(name, column)
