"""The SQL database behind the store: tables, their migrations, and how they are kept equal to the store."""
