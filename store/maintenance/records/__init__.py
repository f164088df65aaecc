"""Records of backups and moves: what each has, how it is read, checked and written."""
