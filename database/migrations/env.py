"""Runs the migrations on the connection of `database.engines.migrate`, within its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
