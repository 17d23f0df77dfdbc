"""``python -m exitgap``: the program of the package."""

import sys

from ._program import main

sys.exit(main())
