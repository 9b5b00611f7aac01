"""Keeps the warnings of libraries off the terminal."""

from __future__ import annotations

import logging
import warnings


def quiet() -> None:
    """From now on no library warns: none of what torch and torchao say at import and export is
    something that a user can act on. Errors are not affected. Call it before importing them."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
