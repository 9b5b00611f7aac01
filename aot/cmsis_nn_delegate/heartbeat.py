"""Says on a terminal that work goes on: `Heartbeat`. It uses the standard error, because results may be printed
meanwhile."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

_FIRST_S = 2.0  # of silence; then twice as long each time


class Heartbeat:
    """Repeats the last line of progress, with the seconds since then, while a step takes long. On a terminal only: in a
    file the lines would depend on the machine's speed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._line = ""
        self._began = self._next = 0.0

    def said(self, line: str) -> None:
        """Begins a step; it has been printed."""
        self._line, self._began, self._next = line, self._clock(), _FIRST_S

    def beat(self) -> None:
        """Prints a line if the step has taken long enough for another one."""
        passed, stream = self._clock() - self._began, sys.__stderr__  # what libraries write to sys.stderr is dropped
        if self._line and passed >= self._next and stream is not None and stream.isatty():
            print(f"  still {self._line} ({passed:.0f} s)", file=stream, flush=True)
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
