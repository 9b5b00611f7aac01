"""What a command that fails says, and its exit code."""

from __future__ import annotations

import tempfile

from ..support.errors import UserError, first_line


def explained(error: BaseException) -> tuple[str, int]:
    """Returns the message and exit code for a command that ended with `error`."""
    if isinstance(error, UserError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", 130
    if isinstance(error, OSError):
        return f"{error.filename or 'input/output'}: {error.strerror or error}", 2
    return f"{first_line(error)} (unexpected; --debug shows where)", 1


def shown_graph(error: BaseException) -> str:
    """Writes the graph in the notes of `error`, if there is one, to a file. Returns text that ends the message."""
    notes = getattr(error, "__notes__", ())
    if not notes:
        return ""
    with tempfile.NamedTemporaryFile("w", prefix="cmsisnn-graph-", suffix=".txt", delete=False) as file:
        file.write("\n".join((str(error), *notes, "")))
    return f"; the graph is in {file.name}"
