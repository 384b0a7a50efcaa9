"""``python -m graphloc`` is ``graphloc``."""

import sys

from graphloc.cli import main

if __name__ == "__main__":
    sys.exit(main())
