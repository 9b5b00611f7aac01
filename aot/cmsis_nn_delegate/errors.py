"""Errors that a user can do something about."""

from __future__ import annotations


class UserError(ValueError):
    """What was asked for cannot be done; the message says what is wrong and what to do.

    `exit_code` is the command line's: 2 for what was given to it, 1 for models that cannot be
    compiled and runs that failed.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
