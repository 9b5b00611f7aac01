"""Types of arguments that several commands have."""

from __future__ import annotations

import argparse

from .. import byte_counts


def byte_count(text: str) -> int:
    """Returns a number of bytes, such as 64K."""
    try:
        return byte_counts.byte_count(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
