"""``python -m semisvm``, for environments whose scripts are not on the path."""

import sys

from .cli import main

sys.exit(main())
