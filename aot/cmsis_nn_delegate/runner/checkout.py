"""Finds the repository around an editable or in-place package, because a wheel lacks what Bazel builds there."""

from __future__ import annotations

from pathlib import Path
from typing import Optional


def find_checkout() -> Optional[Path]:
    """Returns the root of the checkout that contains this file or the working directory; None if there is none."""
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            if (folder / "WORKSPACE").is_file() and (folder / "aot" / "cmsis_nn_delegate").is_dir():
                return folder
    return None
