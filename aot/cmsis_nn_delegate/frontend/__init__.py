"""What stands before and after a network, as PyTorch modules that are exported, calibrated and compiled with it into
one call of the delegate.

The names below are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "BoxDecoder": "detection",
    "CtcGreedyDecoder": "ctc",
    "DetectionSmoother": "smoothing",
    "LogMel": "audio",
    "Mfcc": "audio",
    "NonMaxSuppression": "detection",
    "Pcen": "pcen",
    "Rgb565ToGray": "camera",
    "Rgb565ToRgb": "camera",
    "YuyvToGray": "camera",
    "YuyvToRgb": "camera",
    "frame_of": "camera",
    "mel_bank": "mel",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_EXPORTS[name]}", __name__), name)
    globals()[name] = value
    return value
