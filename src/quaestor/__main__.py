"""`python -m quaestor`."""

import sys

from quaestor.cli import main

sys.exit(main())
