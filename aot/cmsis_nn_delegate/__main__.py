"""The entry point of `cmsisnn` and `python -m cmsis_nn_delegate`.

Ctrl-C while the command line itself is imported ends like any other Ctrl-C, so that import is inside of `main`.
"""

import gc
import sys


def main() -> int:
    """Runs a command and returns its exit code."""
    try:
        from cmsis_nn_delegate.cli import main as command

        return command()
    except KeyboardInterrupt:
        print("cmsisnn: error: interrupted", file=sys.stderr)
        return 130
    finally:
        # Else Python searches the million objects of PyTorch for garbage when it ends, for a second.
        gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
