"""How operators see values in memory, and changes of memory order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Union

import numpy as np

from ..graph.ir import Value
from ..graph.tensor_type import Layout, TensorType


def nhwc(value: Value) -> tuple[int, int, int, int]:
    """(n, h, w, c) of an image, which must lie channels-last, or of a sequence that lies like an image of one row."""
    if len(value.shape) == 3 and is_row(value.shape):
        n, c, w = value.shape
        return n, 1, w, c
    if len(value.shape) != 4:
        raise ValueError(f"{value.name} has shape {value.shape}; an image has rank 4")
    n, c, h, w = value.shape
    if effective_layout(value) is not Layout.CHANNELS_LAST and c > 1 and h * w > 1:
        raise ValueError(f"{value.name} is {value.layout.value}; kernels read images channels-last")
    return n, h, w, c


def is_row(shape: Sequence[int]) -> bool:
    """Whether a sequence [N, C, L] lies in memory like the image [N, C, 1, L], channels-last: row-major order is the
    same if there is one channel or one pixel."""
    return len(shape) == 3 and 1 in shape[1:]


def effective_layout(value: Union[Value, TensorType]) -> Layout:
    """Returns the layout; a channels-last image whose memory order is also row-major counts as row-major."""
    if value.layout is Layout.CHANNELS_LAST:
        _, c, h, w = value.shape
        if c > 1 and h * w > 1:
            return Layout.CHANNELS_LAST
    return Layout.ROW_MAJOR


def reorder(source: Value, target: Value) -> tuple[int, int, int]:
    """(batch, rows, columns): storing `source` as `target` turns [batch, rows, columns] into
    [batch, columns, rows]; rows is 1 if the order stays.

    The one of them that is row-major may have any shape of as many elements.
    """
    if source.numel != target.numel:
        raise ValueError(f"{source.name} has {source.numel} elements, {target.name} {target.numel}")
    layouts = effective_layout(source), effective_layout(target)
    if layouts[0] is layouts[1]:
        return 1, 1, source.numel
    if layouts[0] is Layout.ROW_MAJOR:
        n, c, h, w = target.shape
        return n, c, h * w
    n, c, h, w = source.shape
    return n, h * w, c


def reordered(data: np.ndarray, batch_rows_columns: tuple[int, int, int]) -> np.ndarray:
    """`data` with [batch, rows, columns] turned into [batch, columns, rows]; flat."""
    return data.reshape(batch_rows_columns).transpose(0, 2, 1).reshape(-1)


def to_storage(data: np.ndarray, value: Union[Value, TensorType]) -> np.ndarray:
    """A logical array of `value` as it lies in memory, contiguous."""
    if value.layout is Layout.CHANNELS_LAST:
        data = data.transpose(0, 2, 3, 1)
    return np.ascontiguousarray(data).reshape(value.storage_shape)


def from_storage(data: np.ndarray, value: Value) -> np.ndarray:
    """The inverse of `to_storage`."""
    data = np.asarray(data).reshape(value.storage_shape)
    if value.layout is Layout.CHANNELS_LAST:
        data = data.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(data).reshape(value.shape)


def memory_order(tensor: TensorType) -> np.ndarray:
    """For each element in memory, its logical row-major index."""
    index = np.arange(tensor.numel).reshape(tensor.shape)
    return to_storage(index, tensor).reshape(-1)


def moves(source: Value, output: Value) -> bool:
    """Whether a reshape of `source` to `output` gives the elements another order in memory."""
    if effective_layout(source) is effective_layout(output) is Layout.ROW_MAJOR:
        return False
    return not np.array_equal(memory_order(source.type), memory_order(output.type))


def memory_axis(value: Union[Value, TensorType], axis: int) -> int:
    """The dimension of `storage_shape` in which the logical dimension `axis` lies."""
    return (0, 3, 1, 2)[axis] if value.layout is Layout.CHANNELS_LAST else axis


def rows_of(value: Value, row_size: int) -> int:
    """How many rows of `row_size` elements `value` has."""
    rows, rest = divmod(math.prod(value.shape), row_size)
    if rest:
        raise ValueError(f"{value.name} {value.shape} is not made of rows of {row_size}")
    return rows
