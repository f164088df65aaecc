"""
The migrations of the SQL database: one file for each change of the tables, named by its revision: `v0001_tables`,
`v0002_...`, each after the one before. The tables as they are now are in `database/tables.py`.
"""
