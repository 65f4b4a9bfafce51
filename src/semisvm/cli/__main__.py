"""``python -m semisvm.cli``, for environments whose scripts are not on the path."""

import sys

from . import main

sys.exit(main())
