"""`python -m toolcrib.cli`: the same program without its script."""

import sys

from toolcrib.cli import main

sys.exit(main())
