"""
The command line, one module for each command.

Each command module has `add_arguments`, which declares its arguments, and `run`, which returns its exit code.
"""
