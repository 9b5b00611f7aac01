"""`python -m cmsis_nn_delegate` is `cmsisnn`."""

import sys

from cmsis_nn_delegate.cli import main

sys.exit(main())
