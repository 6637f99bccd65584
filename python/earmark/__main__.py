"""`python -m earmark`: the command line without an installed script."""

import sys

from earmark.cli import main

sys.exit(main())
