"""`python -m cmsis_nn_delegate` is `cmsisnn`."""

import sys

from .cli import main

sys.exit(main())
