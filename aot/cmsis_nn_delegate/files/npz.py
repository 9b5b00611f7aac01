"""Arrays as bytes of an .npz file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np


def dumps(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Returns the content of a file with these arrays, by name.

    No array has objects, so that none is pickled. To say so to NumPy, by `allow_pickle=False`, would not be the same
    everywhere: NumPy 2.0 takes that for one more array.
    """
    out = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez(out, **named)
    return out.getvalue()
