"""Classes above tests: the class list of each test becomes a class; more time as a factor; what attempts start from."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
_TO_CLASS = "class_id INTEGER CONSTRAINT fk_published_class_id REFERENCES school_class (id) ON DELETE SET NULL"
_classes = sa.table("school_class", *(sa.column(name) for name in ("id", "teacher_id", "title", "source", "created")))
_tests = sa.table("published", *(sa.column(name) for name in ("id", "teacher_id", "title", "created", "class_id")))
_pupils = sa.table("pupil", *(sa.column(name) for name in ("id", "test_id", "class_id")))


def upgrade() -> None:
    """Make the tables and columns; every test with a class list gets a class of its title."""
    op.create_table(
        "school_class",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("source", sa.String(200), nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("archived", sa.DateTime),
        sqlite_autoincrement=True,
    )
    op.execute(f"ALTER TABLE published ADD COLUMN {_TO_CLASS}")
    op.create_index("ix_published_class_id", "published", ["class_id"])
    op.add_column("published", sa.Column("half_life", sa.Float))
    op.add_column("attempt", sa.Column("factor", sa.Float, nullable=False, server_default="1"))
    op.add_column("attempt", sa.Column("start", sa.JSON))
    op.add_column("pupil", sa.Column("class_id", sa.Integer))
    _make_classes()
    with op.batch_alter_table("pupil") as batch:
        batch.drop_index("ix_pupil_test_id")
        batch.drop_column("test_id")
        batch.add_column(sa.Column("factor", sa.Float, nullable=False, server_default="1"))
        batch.add_column(sa.Column("source", sa.String(200), nullable=False, server_default=""))
        batch.create_foreign_key("fk_pupil_class_id", "school_class", ["class_id"], ["id"], ondelete="CASCADE")
        batch.create_index("ix_pupil_class_id", ["class_id"])


def _make_classes() -> None:
    connection = op.get_bind()
    listed = sa.select(_tests).where(sa.exists().where(_pupils.c.test_id == _tests.c.id)).order_by(_tests.c.id)
    for test in connection.execute(listed).all():
        values = {"teacher_id": test.teacher_id, "title": test.title, "source": "", "created": test.created}
        made = connection.execute(_classes.insert().values(values).returning(_classes.c.id)).scalar_one()
        connection.execute(_pupils.update().where(_pupils.c.test_id == test.id).values(class_id=made))
        connection.execute(_tests.update().where(_tests.c.id == test.id).values(class_id=made))


def downgrade() -> None:
    """Drop them; a class list stays with the first test that has it, and pupils of classes without a test go."""
    op.add_column("pupil", sa.Column("test_id", sa.Integer))
    connection = op.get_bind()
    first = sa.select(sa.func.min(_tests.c.id)).where(_tests.c.class_id == _pupils.c.class_id).scalar_subquery()
    connection.execute(_pupils.update().values(test_id=first))
    connection.execute(sa.text("update attempt set pupil_id = null where pupil_id in (select id from pupil where test_id is null)"))
    connection.execute(_pupils.delete().where(_pupils.c.test_id.is_(None)))
    with op.batch_alter_table("pupil") as batch:
        batch.drop_index("ix_pupil_class_id")
        for name in ("class_id", "factor", "source"):
            batch.drop_column(name)
        batch.alter_column("test_id", existing_type=sa.Integer, nullable=False)
        batch.create_foreign_key("fk_pupil_test_id", "published", ["test_id"], ["id"], ondelete="CASCADE")
        batch.create_index("ix_pupil_test_id", ["test_id"])
    with op.batch_alter_table("attempt", table_kwargs={"sqlite_autoincrement": True}) as batch:
        for name in ("factor", "start"):
            batch.drop_column(name)
    with op.batch_alter_table("published", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_index("ix_published_class_id")
        for name in ("class_id", "half_life"):
            batch.drop_column(name)
    op.drop_table("school_class")
