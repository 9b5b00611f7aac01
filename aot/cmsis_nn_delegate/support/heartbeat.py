"""Says that work goes on, and where it is: `Heartbeat` and `numbered`. It uses the standard error, because results may
be printed meanwhile."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Optional, TypeVar

T = TypeVar("T")

# Seconds of silence before the first line; then twice as long each time.
_FIRST_S = 2.0
_FIRST_IN_A_FILE_S = 10.0  # where nobody waits, and the lines depend on the machine's speed

_place = ""  # in what this process works through; only one compilation at a time runs


def numbered(items: Iterable[T], what: str, count: Optional[int] = None) -> Iterator[T]:
    """Yields the items. Until the next one is asked for, a heartbeat names the last one: "sample 3 of 128" if `what` is
    "sample". `count` is how many there are, where `items` does not know it."""
    global _place
    if count is None and isinstance(items, Sized):
        count = len(items)
    try:
        for number, item in enumerate(items, 1):
            _place = f"{what} {number}" if count is None else f"{what} {number} of {count}"
            yield item
    finally:
        _place = ""


def place() -> str:
    """Returns the item that is worked on; "" if none is known."""
    return _place


class Heartbeat:
    """Repeats the last line of progress, with the seconds since then, while a step takes long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._line = ""
        self._began = self._next = 0.0

    def said(self, line: str) -> None:
        """Begins a step; it has been printed."""
        self._line, self._began, self._next = line, self._clock(), 0.0

    def beat(self) -> None:
        """Prints a line if the step has taken long enough for another one."""
        passed, stream = self._clock() - self._began, sys.__stderr__  # what libraries write to sys.stderr is dropped
        if not self._line or stream is None:
            return
        if passed >= max(self._next, _FIRST_S if stream.isatty() else _FIRST_IN_A_FILE_S):
            place = f"{_place}, " if _place else ""
            print(f"  still {self._line} ({place}{passed:.0f} s)", file=stream, flush=True)
            self._next = 2 * passed

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Beats from another thread while the body runs."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.5):
                self.beat()

        threading.Thread(target=watch, name="heartbeat", daemon=True).start()
        try:
            yield
        finally:
            self._line = ""
            ended.set()
