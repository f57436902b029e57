"""Things that are shared with colleagues, to look at or to edit; teachers as a provider of OpenID Connect knows them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
THINGS = {"draft": "draft", "bank": "bank", "test": "published"}


def upgrade() -> None:
    """Make the tables; who could write at a draft can edit it from now on."""
    op.create_table(
        "share",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False, index=True),
        *(sa.Column(f"{name}_id", sa.Integer, sa.ForeignKey(f"{table}.id", ondelete="CASCADE")) for name, table in THINGS.items()),
        sa.Column("extent", sa.String(10), nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        *(sa.UniqueConstraint(f"{name}_id", "teacher_id", name=f"uq_share_{name}_id") for name in THINGS),
    )
    op.execute(
        "insert into share (teacher_id, draft_id, extent, created)"
        " select colleague.teacher_id, draft_id, 'edit', draft.created from colleague join draft on draft.id = draft_id"
    )
    op.drop_table("colleague")
    op.create_table(
        "identity",
        sa.Column("issuer", sa.String(255), primary_key=True),
        sa.Column("subject", sa.String(255), primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False, unique=True),
        sa.Column("created", sa.DateTime, nullable=False),
    )


def downgrade() -> None:
    """Drop them; of what is shared only who could edit a draft is kept."""
    op.drop_table("identity")
    op.create_table(
        "colleague",
        sa.Column("draft_id", sa.Integer, sa.ForeignKey("draft.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), primary_key=True),
    )
    op.execute(
        "insert into colleague (draft_id, teacher_id) select draft_id, teacher_id from share where draft_id is not null and extent = 'edit'"
    )
    op.drop_table("share")
