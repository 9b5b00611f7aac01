"""What commands print: progress, results, and nothing of what libraries write."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator

from ..support.heartbeat import Heartbeat
from .printable import printable

HEARTBEAT = Heartbeat()


def say(line: str) -> None:
    print(f"- {printable(line)}", flush=True)
    HEARTBEAT.said(printable(line))


def write(text: str) -> None:
    sys.stdout.write(printable(text))


@contextlib.contextmanager
def silenced(debug: bool) -> Iterator[None]:
    """Drops what libraries write to stderr; failures get our own messages."""
    if debug:
        yield
        return
    with contextlib.redirect_stderr(io.StringIO()):
        yield
