"""Learning platforms: registrations, logins, activities with their learners and scores, and browsers inside a platform's frame."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _of(name: str, *, optional: bool = False) -> sa.Column[int]:
    """A column that names a platform or a placement, and goes with it."""
    return sa.Column(f"{name}_id", sa.Integer, sa.ForeignKey(f"lti_{name}.id", ondelete="CASCADE"), nullable=optional)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "lti_platform",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("client_id", sa.String(200), nullable=False),
        *(sa.Column(name, sa.String(1000), nullable=False) for name in ("auth_url", "token_url", "jwks_url")),
        sa.Column("deployments", sa.JSON, nullable=False),
        sa.Column("frames", sa.JSON, nullable=False),
        sa.Column("keys", sa.JSON),
        sa.Column("keys_at", sa.DateTime),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.UniqueConstraint("issuer", "client_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "lti_key",
        sa.Column("kid", sa.String(64), primary_key=True),
        sa.Column("private", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
    )
    op.create_table(
        "lti_login",
        sa.Column("state", sa.String(64), primary_key=True),
        _of("platform"),
        sa.Column("nonce", sa.String(64), nullable=False, unique=True),
        sa.Column("browser", sa.String(64), nullable=False),
        sa.Column("storage", sa.String(200), nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False, index=True),
    )
    op.create_table(
        "lti_person",
        sa.Column("platform_id", sa.Integer, sa.ForeignKey("lti_platform.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("sub", sa.String(255), primary_key=True),
        sa.Column("teacher_id", sa.Integer, sa.ForeignKey("teacher.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("is_own", sa.Boolean, nullable=False),
    )
    op.create_table(
        "lti_choice",
        sa.Column("token", sa.String(64), primary_key=True),
        _of("platform"),
        sa.Column("test_id", sa.Integer, sa.ForeignKey("published.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("created", sa.DateTime, nullable=False),
    )
    op.create_table(
        "lti_placement",
        sa.Column("id", sa.Integer, primary_key=True),
        _of("platform"),
        *(sa.Column(name, sa.String(255), nullable=False) for name in ("deployment", "context", "link")),
        *(sa.Column(name, sa.String(200), nullable=False) for name in ("title", "course")),
        sa.Column("test_id", sa.Integer, sa.ForeignKey("published.id", ondelete="CASCADE"), index=True),
        sa.Column("scopes", sa.JSON, nullable=False),
        *(sa.Column(name, sa.String(1000), nullable=False) for name in ("lineitem", "lineitems", "members")),
        sa.Column("seen", sa.String(200), nullable=False),
        sa.UniqueConstraint("platform_id", "deployment", "context", "link"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "lti_seat",
        sa.Column("id", sa.Integer, primary_key=True),
        _of("placement"),
        sa.Column("sub", sa.String(255), nullable=False),
        sa.Column("pupil_id", sa.Integer, sa.ForeignKey("pupil.id", ondelete="CASCADE"), nullable=False, unique=True),
        sa.Column("score", sa.JSON),
        sa.Column("stamp", sa.DateTime),
        sa.Column("sent", sa.DateTime),
        sa.Column("due", sa.DateTime, index=True),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("held", sa.DateTime),
        sa.Column("problem", sa.Text, nullable=False),
        sa.UniqueConstraint("placement_id", "sub"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "lti_frame",
        sa.Column("token", sa.String(64), primary_key=True),
        _of("platform"),
        _of("placement", optional=True),
        sa.Column("sub", sa.String(255), nullable=False),
        sa.Column("teaches", sa.Boolean, nullable=False),
        sa.Column("origins", sa.JSON, nullable=False),
        sa.Column("jar", sa.LargeBinary, nullable=False),
        sa.Column("bound", sa.String(64), nullable=False),
        sa.Column("choosing", sa.JSON),
        sa.Column("expires", sa.DateTime, nullable=False, index=True),
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("frame", "seat", "placement", "choice", "person", "login", "key", "platform"):
        op.drop_table(f"lti_{name}")
