"""Values of the structs that argument blocks have in common: dimensions, pairs, ranges of the output."""

from __future__ import annotations

from collections.abc import Mapping

from ..format.schema import MAX_DIM
from ..graph.tensor_type import TensorType
from .attrs import Clamp


def dims(n: int, h: int, w: int, c: int) -> Mapping[str, int]:
    """A cmsis_nn_dims; ValueError if a dimension does not fit a payload."""
    for name, size in zip("nhwc", (n, h, w, c)):
        if not 1 <= size <= MAX_DIM:
            raise ValueError(f"dimension {name} = {size} is not in [1, {MAX_DIM}]")
    return {"n": n, "h": h, "w": w, "c": c}


def tile(h: int, w: int) -> Mapping[str, int]:
    """A cmsis_nn_tile."""
    return {"h": h, "w": w}


def activation(clamp: Clamp, output: TensorType) -> Mapping[str, int]:
    """A cmsis_nn_activation."""
    lo, hi = clamp.quantized(output)
    return {"min": lo, "max": hi}
