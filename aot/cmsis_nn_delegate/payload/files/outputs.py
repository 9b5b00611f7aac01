"""Writes files whole or not at all, and writes several files so that readers notice a mixture.

New files are written into a hidden folder in the output folder. They are renamed into place only when all of them
are on disk: a full disk, an exception or a kill before that leaves the old files as they were.
Renaming several files is not one step, so a kill in between leaves some old and some new files;
readers detect this by what the files say about each other (see `artifacts`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Union

from ...errors import UserError

_HIDDEN = ".cmsisnn-"


def check_writable(folder: Union[str, Path], names: Iterable[str] = ()) -> None:
    """Raises the UserError that `write_files` would raise if `folder` is not a folder or not writable, or if
    one of `names` is a folder in it. Leaves nothing behind."""
    folder = Path(folder)
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        _make_folder(folder)
        try:
            with tempfile.TemporaryFile(dir=folder, prefix=_HIDDEN):
                pass
        except OSError as error:
            raise UserError(f"{folder} takes no files: {error.strerror}") from error
    finally:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
    for name in names:
        if (folder / name).is_dir():
            raise UserError(f"{folder / name} is a folder, in the place of a file to be written")


def write_files(folder: Union[str, Path], files: Mapping[str, bytes], obsolete: Iterable[str] = ()) -> list[Path]:
    """Writes `files`, name -> content, to `folder`, creating it if necessary, and removes the files named
    `obsolete`. Returns the paths of `files`.

    It first removes the obsolete files, then moves `files` into place in their order. UserError names the file that
    cannot be written, and says whether the old files are still there.
    """
    folder = Path(folder)
    check_writable(folder, files)
    _make_folder(folder)
    with _locked(folder):
        _remove_leftovers(folder)
        try:
            hidden = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder))
        except OSError as error:
            raise UserError(f"{folder} takes no files: {error.strerror}") from error
        try:
            for name, content in files.items():
                try:
                    _write(hidden / name, content)
                except OSError as error:
                    raise UserError(
                        f"cannot write {folder / name}: {error.strerror}; files that were there are unchanged"
                    ) from error
            for name in (*obsolete, *files):
                try:
                    if name in files:
                        os.replace(hidden / name, folder / name)
                    else:
                        (folder / name).unlink(missing_ok=True)
                except OSError as error:
                    raise UserError(
                        f"cannot put {folder / name} in place: {error.strerror}; others of its folder may be "
                        "new already"
                    ) from error
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
    return [folder / name for name in files]


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
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
