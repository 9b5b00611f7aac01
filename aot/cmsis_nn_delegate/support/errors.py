"""Errors that the user can fix."""

from __future__ import annotations

import contextlib
import difflib
import re
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Union


class UserError(ValueError):
    """A request that cannot be carried out; the message says what is wrong and what to do.

    `exit_code` is that of the command line: 2 for wrong arguments or input files, 1 for models that cannot
    be compiled and for runs that failed.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def require_known(given: Any, known: Iterable[str], what: str) -> None:
    """Refuses a name that is not in `known`, with the closest ones."""
    names = list(known)
    if isinstance(given, str) and given in names:
        return
    raise UserError(f"unknown {what} {given!r}; {closest(given, names)}")


def closest(given: Any, known: Iterable[str]) -> str:
    """Returns the end of a message: which of `known` were meant."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(str(given), names, 3, 0.6)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"choose one of {', '.join(names[:8])}{more}" if names else "there is none to choose from"


def require_file(path: Union[str, Path], what: str = "", advice: str = "") -> None:
    """Refuses what is no file that can be read from any position. Messages begin with `what` and end with `advice`."""
    path = Path(path)
    if path.is_file():
        return
    if path.is_dir():
        problem = "is a folder, not a file"
    elif path.exists():
        problem = "is a pipe or a device: write its contents to a file first"
    else:
        problem = "does not exist"
    raise UserError(f"{what}{path} {problem}" + (f"; {advice}" if advice else ""))


@contextlib.contextmanager
def library_call(failure: str) -> Iterator[None]:
    """Wraps one call of a third-party library. Turns its exceptions into a UserError that begins with
    `failure` and has the first line of the library's message. Exceptions that code of this package raises
    when the library calls it pass unchanged: they would be defects of ours."""
    try:
        yield
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the library may call `forward`, which may raise anything
        if _raised_here(error):
            raise
        exit_code = 1 if isinstance(error, Exception) else 2
        raise UserError(f"{failure}: {first_line(error)}", exit_code) from error


@contextlib.contextmanager
def users_code(failure: str) -> Iterator[None]:
    """Wraps one call of the user's code. Whatever it raises, but for Ctrl-C, becomes a UserError that begins with
    `failure`."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = str(error) if isinstance(error, UserError) else first_line(error)
        raise UserError(f"{failure}: {what}") from error


def first_line(error: BaseException) -> str:
    """Returns the type of an error and the first line of its message, or what torch means by a long one."""
    # A script that ends with sys.exit() would end the caller too, and with 0 that looks like success.
    if isinstance(error, SystemExit):
        return f"it calls sys.exit({error.code!r}); put what only a script does below 'if __name__ == \"__main__\":'"
    if type(error).__name__ == "GuardOnDataDependentSymNode":
        where = re.search(r'File ".*?([^/"]+)", line (\d+), in \w+\n\s*(.+)', str(error))
        return (
            "a shape or a branch depends on values that only an inference knows"
            + (f", at {where[1]}:{where[2]}, {where[3].strip()!r}" if where else "")
            + ". Both have to be fixed: use torch.where() or a product with a mask in place of `if`, .item(), "
            "nonzero() and an index that is a mask; in place of a constant mask, index with the places where it is "
            "true, computed in __init__"
        )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def _raised_here(error: BaseException) -> bool:
    """Returns whether code of this package raised it, and not code that it called."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and Path(frames[-1].f_code.co_filename).is_relative_to(Path(__file__).parents[1])
