"""Refuses NaN and infinity: integers have neither, so a kernel would silently turn them into numbers."""

from __future__ import annotations

import numpy as np

from .errors import UserError


def flaw(array: np.ndarray) -> str:
    """Returns what is wrong with a float array, such as "NaN at [0, 3]", with the index of the first such
    element. Returns "" for arrays of finite numbers or integers."""
    if not np.issubdtype(array.dtype, np.floating) or np.isfinite(array).all():
        return ""
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    kind = "NaN" if np.isnan(array[index]) else "an infinity"
    return f"{kind} at {list(index)}" if index else kind


def require_finite(array: np.ndarray, what: str) -> None:
    """Raises UserError if `array`, which the message calls `what`, contains NaN or an infinity."""
    found = flaw(array)
    if found:
        raise UserError(f"{what} holds {found}: only finite numbers can be quantized")
