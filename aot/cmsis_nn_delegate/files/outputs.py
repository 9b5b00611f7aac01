"""Writes files whole or not at all, and writes several files so that readers notice a mixture.

New files are written into a hidden folder in the output folder. They are renamed into place only when all of them
are on disk: a full disk, an exception or a kill before that leaves the old files as they were. If renaming fails, the
old files are put back. Renaming several files is not one step, so a kill in between leaves some old and some new
files; readers detect this by what the files say about each other (see `artifacts`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Union

from ..support.errors import UserError

_UNCHANGED = "files that were there are unchanged"
_HIDDEN = ".cmsisnn-"
_CHECK = ".cmsisnn_check-"  # not removed by other writers


def check_writable(folder: Union[str, Path], names: Iterable[str] = ()) -> None:
    """Raises the UserError that `write_files` would raise if `folder` is not a folder or not writable, or if
    one of `names` is a folder in it. Leaves nothing behind."""
    if not str(folder):
        raise UserError("the folder for files has an empty name; write . for the current one")
    folder = Path(folder)
    there = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), Path("."))
    if there == folder:
        if not folder.is_dir():
            raise UserError(f"{folder} is a file, not a folder")
        try:
            with tempfile.TemporaryFile(dir=folder, prefix=_CHECK):
                pass
        except OSError as error:
            raise UserError(f"{folder} takes no files: {error.strerror}") from error
    else:
        # Not the folder itself: another writer might be about to use it when it is removed again.
        try:
            with tempfile.TemporaryDirectory(dir=there, prefix=_CHECK) as checked:
                Path(checked, folder.relative_to(there)).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"the folder {folder} cannot be made: {error.strerror}") from error
    for name in names:
        if (folder / name).is_dir():
            raise UserError(f"{folder / name} is a folder, in the place of a file to be written")


def write_files(folder: Union[str, Path], files: Mapping[str, bytes], obsolete: Iterable[str] = ()) -> list[Path]:
    """Writes `files`, name -> content, to `folder`, creating it if necessary, and removes the files named
    `obsolete`. Returns the paths of `files`.

    It first removes the obsolete files, then moves `files` into place in their order. If that fails, it puts the old
    files back. UserError names the file that cannot be written, and says whether the old files are still there.
    """
    obsolete = list(obsolete)
    check_writable(folder, [*files, *obsolete])
    folder = Path(folder)
    _make_folder(folder)
    with _locked(folder):
        _remove_leftovers(folder)
        try:
            hidden = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder))
        except OSError as error:
            raise UserError(f"{folder} takes no files: {error.strerror}") from error
        try:
            new, old = hidden / "new", hidden / "old"
            for made in (new, old):
                try:
                    made.mkdir()
                except OSError as error:
                    raise UserError(f"{folder} takes no files: {error.strerror}") from error
            for name, content in files.items():
                try:
                    _write(new / name, content)
                except OSError as error:
                    raise UserError(f"cannot write {folder / name}: {error.strerror}; {_UNCHANGED}") from error
            _move(folder, new, old, [*obsolete, *files])
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
    return [folder / name for name in files]


def _move(folder: Path, new: Path, old: Path, names: Sequence[str]) -> None:
    """Moves the files with these `names` from `new` to `folder`, and removes those that are not in `new`. If one step
    fails, `folder` is left as it was; the folder `old` is for that."""
    existed = {name for name in names if os.path.lexists(folder / name)}
    for name in names:
        # Where there are no hard links, the old files are moved away instead, one by one.
        with contextlib.suppress(OSError):
            os.link(folder / name, old / name)
    touched: list[str] = []
    name = ""
    try:
        for name in names:
            touched.append(name)
            there, kept = os.path.lexists(folder / name), os.path.lexists(old / name)
            if there and not kept:
                os.replace(folder / name, old / name)
            elif there and not (new / name).exists():
                os.unlink(folder / name)
            if (new / name).exists():
                os.replace(new / name, folder / name)
    except BaseException as error:
        try:
            for undone in reversed(touched):
                if os.path.lexists(old / undone):
                    os.replace(old / undone, folder / undone)
                elif undone not in existed:
                    (folder / undone).unlink(missing_ok=True)
            left = _UNCHANGED
        except OSError:
            left = "others of its folder may be new already"
        if isinstance(error, OSError):
            raise UserError(f"cannot put {folder / name} in place: {error.strerror}; {left}") from error
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UserError(f"{folder} is a file, not a folder") from error
    except OSError as error:
        raise UserError(f"the folder {folder} cannot be made: {error.strerror}") from error


def _write(path: Path, content: bytes) -> None:
    """Writes a file and flushes it to disk, because some file systems notice only then that it is full."""
    with open(path, "xb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keeps other writers out of `folder`, on file systems that have locks."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _remove_leftovers(folder: Path) -> None:
    """Removes what killed writers left behind; a live writer would hold the lock."""
    for path in folder.glob(f"{_HIDDEN}*"):
        if path.is_dir():
            # Where there are no hard links, it may have the only copy of an old file.
            for kept in (path / "old").glob("*"):
                if not os.path.lexists(folder / kept.name):
                    with contextlib.suppress(OSError):
                        os.replace(kept, folder / kept.name)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
