"""Classes that are shared with colleagues."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """A share may be that of a class."""
    with op.batch_alter_table("share") as table:
        table.add_column(sa.Column("class_id", sa.Integer))
        table.create_foreign_key("fk_share_class_id_school_class", "school_class", ["class_id"], ["id"], ondelete="CASCADE")
        table.create_index("ix_share_class_id_teacher_id", ["class_id", "teacher_id"], unique=True)


def downgrade() -> None:
    """Forget with whom classes are shared."""
    op.execute("delete from share where class_id is not null")
    with op.batch_alter_table("share") as table:
        table.drop_index("ix_share_class_id_teacher_id")
        table.drop_constraint("fk_share_class_id_school_class", type_="foreignkey")
        table.drop_column("class_id")
