"""Graphs in error messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..support.errors import UserError
from .ir import Graph


@contextlib.contextmanager
def shown_in_errors(graph: Graph) -> Iterator[None]:
    """Adds the current text of `graph` as a note to exceptions raised inside; tracebacks and pytest print it. What the
    user can fix says so without the graph."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        error.add_note(f"The graph at this point:\n{graph}")
        raise
