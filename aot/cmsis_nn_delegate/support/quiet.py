"""Keeps the warnings of libraries off the terminal."""

from __future__ import annotations

import contextlib
import logging
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any, Optional, TextIO, Union

# What this package computes with. Their warnings are about how they are called, which users cannot change.
_LIBRARIES = frozenset(
    ("cmsis_nn_delegate", "executorch", "functorch", "mpmath", "networkx", "numpy", "ruamel", "sympy")
    + ("torch", "torchao", "torchgen")
)
# What warns on behalf of its caller.
_PASSED_THROUGH = sys.stdlib_module_names | {"typing_extensions"}


def quiet() -> None:
    """Silences all warnings in this process, because users of the command line cannot act on any of those that torch
    and torchao give at import and export. Errors are not affected. Call it before importing these libraries."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Inside this context, warnings of libraries are dropped, raised or logged. Those of all other code, such as a
    user's model, go where they went before.

    It replaces what belongs to the whole process, so that only one thread may be in it.
    """
    before: tuple[Any, Any] = warnings.filters, warnings.showwarning
    with warnings.catch_warnings(), _quiet_loggers():
        seen: dict[Any, Any] = {}  # of code that has no module

        def show(
            message: Union[Warning, str],
            category: type[Warning],
            filename: str,
            lineno: int,
            file: Optional[TextIO] = None,
            line: Optional[str] = None,
        ) -> None:
            warning_frame = sys._getframe(1)
            if _is_of_library(warning_frame):
                return
            names = _globals_of(warning_frame, filename)
            here = warnings.filters, warnings.showwarning
            # What the filters were decides, as if this context did not exist.
            warnings.filters, warnings.showwarning = before
            try:
                module = names.get("__name__")
                registry = names.setdefault("__warningregistry__", {}) if names else seen
                text: Any = message  # a Warning, which typeshed allows only beside another type of category
                warnings.warn_explicit(text, category, filename, lineno, module, registry)
            finally:
                warnings.filters, warnings.showwarning = here

        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def _is_of_library(frame: Optional[types.FrameType]) -> bool:
    """Returns whether the code that warns in `frame` is that of a library, or was made by one."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in _LIBRARIES or frame.f_code.co_filename.startswith("<eval_with_key>"):  # code of torch.fx
            return True
        if package not in _PASSED_THROUGH or package == "__main__":
            return False
        frame = frame.f_back
    return False


def _globals_of(frame: Optional[types.FrameType], filename: str) -> dict[str, Any]:
    """Returns the global names of the code to which a warning is attributed, which called the one that warns."""
    while frame is not None:
        if frame.f_code.co_filename == filename:
            return frame.f_globals
        frame = frame.f_back
    return {}


@contextlib.contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Inside this context, libraries log errors only. A level that a user has chosen stays."""
    root = logging.getLogger()
    handlers = list(root.handlers)
    raised: list[tuple[logging.Logger, int]] = []
    for name in {*_LIBRARIES, *logging.Logger.manager.loggerDict}:
        if name.partition(".")[0] in _LIBRARIES:
            logger = logging.getLogger(name)
            if logger.level == logging.WARNING or (logger.level == logging.NOTSET and name in _LIBRARIES):
                raised.append((logger, logger.level))
                logger.setLevel(logging.ERROR)

    root.addFilter(_is_wanted)
    try:
        yield
    finally:
        root.removeFilter(_is_wanted)
        for logger, level in raised:
            logger.setLevel(level)
        for handler in root.handlers[:]:
            if handler not in handlers:  # logging.warning() adds one if there is none
                root.removeHandler(handler)


def _is_wanted(record: logging.LogRecord) -> bool:
    """Returns whether a record of the root logger is shown: libraries use it too."""
    if record.levelno >= logging.ERROR:
        return True
    frame: Optional[types.FrameType] = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != record.pathname:
        frame = frame.f_back
    return not _is_of_library(frame)
