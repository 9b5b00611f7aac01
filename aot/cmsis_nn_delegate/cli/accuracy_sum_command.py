"""`cmsisnn accuracy-sum`: adds up what `accuracy --json --part` printed for all parts of the data."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

from ..accuracy import report
from ..support.errors import UserError
from .accuracy_limits import judged


def run(arguments: argparse.Namespace) -> int:
    parts = [report.from_json(text, path) for path in arguments.parts for text in _texts_of(path)]
    return judged(report.merged(parts), arguments)


def _texts_of(path: str) -> list[str]:
    """Returns the text of a file, or those in a .zip."""
    try:
        if not zipfile.is_zipfile(path):
            return [Path(path).read_text(encoding="utf-8")]
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name).decode("utf-8") for name in archive.namelist()]
    except (OSError, UnicodeError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
