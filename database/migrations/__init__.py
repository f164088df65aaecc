"""Migrations of the tables, run by Alembic when a database is opened."""
