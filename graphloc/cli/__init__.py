"""The command line: the only place that prints, and the only one that puts the parts together.

One module a command. Each is imported when its command runs, so that ``graphloc --help`` and
``graphloc localize`` wait for nothing they do not use.
"""

from graphloc.cli.program import main

__all__ = ["main"]
