"""Temporary folders for the files of a run, which are removed even if the program is killed."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

PREFIX = "cnd-sim-"
_YOUNG_S = 60.0  # A new folder is not locked immediately.


class Folder:
    """A new folder; remove() deletes it with its contents.

    Under Bazel it is in TEST_TMPDIR, which Bazel removes, if suits(path) accepts that. Otherwise, the next
    program that creates one removes the folders that ended programs have left.
    """

    def __init__(self, suits: Callable[[str], object] = lambda path: True) -> None:
        bazels = os.environ.get("TEST_TMPDIR")
        parent = pathlib.Path(bazels if bazels and suits(bazels) else tempfile.gettempdir())
        _remove_stale(parent)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        # Closed when the program ends, in any way. Its children do not inherit it.
        self._lock = _lock(self.path)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> pathlib.Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def _lock(path: pathlib.Path) -> int | None:
    """Returns a descriptor that holds the lock of `path`; None if another program holds it, or `path` is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # owned by another user, or just removed
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


@functools.cache
def _remove_stale(parent: pathlib.Path) -> None:
    """Removes the folders that ended programs have left; does so once per program."""
    for path in parent.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime < _YOUNG_S:
                continue
            lock = _lock(path)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Makes SIGTERM raise an exception that ends the program with exit code 143, so that it cleans up folders and
    processes.

    Does nothing if the program already handles or ignores the signal.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
