"""Runs the command line: `python -m server COMMAND`."""

import sys

from server.cli.main import main

sys.exit(main())
