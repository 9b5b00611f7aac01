"""The error of everything that goes through a debug server."""

from __future__ import annotations

from ..support.errors import UserError


class DebuggerError(UserError):
    """A debug server, or the core behind it, does not do what a run needs; the message says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=1)
