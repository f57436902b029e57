"""How Alembic reaches the database: through the connection that `Database.migrate` hands over."""

from alembic import context

from quaestor.store.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
