"""
Records, of which backups and moves of a store consist: what each has, how it is read from Redis, checked and written.
"""
