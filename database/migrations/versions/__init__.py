"""
One file for each change of the tables, named by its revision: `v0001_tables`, `v0002_...`, each after the one before.
"""
