"""Finds the repository around an editable or in-place package: what is built there is not in a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Optional


def find_checkout() -> Optional[Path]:
    """The root of the checkout that holds this file or the working directory; None if there is none."""
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            if (folder / "WORKSPACE").is_file() and (folder / "aot" / "cmsis_nn_delegate").is_dir():
                return folder
    return None
