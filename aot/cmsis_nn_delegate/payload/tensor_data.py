"""Converts arrays to and from the inputs and outputs of a payload, in memory order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .decode import Tensor


def _stored(tensor: Tensor) -> np.dtype[Any]:
    return tensor.dtype.numpy.newbyteorder("<")


def to_bytes(array: np.ndarray, tensor: Tensor) -> bytes:
    """Returns `array`, given in logical order, as the bytes that the payload reads. ValueError if it does not match
    `tensor`."""
    expected = _stored(tensor)
    if array.dtype != expected or array.shape != tensor.shape:
        raise ValueError(
            f"the payload takes {expected.name}{list(tensor.shape)}, not {array.dtype.name}{list(array.shape)}"
        )
    return np.ascontiguousarray(array.transpose(tensor.dim_order)).tobytes()


def from_bytes(data: bytes, tensor: Tensor) -> np.ndarray:
    """The inverse of `to_bytes`."""
    if len(data) != tensor.nbytes:
        raise ValueError(f"the tensor has {tensor.nbytes} bytes, not {len(data)}")
    in_memory = tuple(tensor.shape[dim] for dim in tensor.dim_order)
    array = np.frombuffer(data, _stored(tensor)).reshape(in_memory)
    return np.ascontiguousarray(array.transpose(np.argsort(tensor.dim_order)))
