"""graphloc: names the files, classes and functions that an issue is about, with reasons.

The parts of the application: `graphloc.issue` reads issues, `graphloc.localization` ranks entities,
`graphloc.evaluation` measures locators, `graphloc.cli` binds it all to a command line.
"""

__version__ = "0.1.0"
