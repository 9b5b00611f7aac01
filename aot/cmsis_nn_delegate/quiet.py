"""Keeps the warnings of libraries off the terminal."""

from __future__ import annotations

import logging
import warnings


def quiet() -> None:
    """Silences the warnings of libraries, because users cannot act on any of the warnings that torch and torchao
    give at import and export. Errors are not affected. Call it before importing these libraries."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
