"""Calibration data: what `compile_model` accepts, as samples of checked tensors.

Accepted are

* any iterable of samples, a generator or a DataLoader for example. A sample is what `forward` takes, like
  the example inputs; for a model of one input also a tensor by itself;
* a dict of arrays by input name, such as `numpy.load` of an .npz file, or, for a model of one input, one array.

An array has the rows of several samples where the example input has fewer rows: for an input of shape
(B, ...) and an array of shape (n * B, ...) rows i * B to (i + 1) * B are sample i.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch

from ..support.errors import UserError, users_code
from ..support.finite import require_finite
from ..support.heartbeat import numbered
from ..support.isolation import as_caller
from . import samples
from .interface import Inputs

DATA = "calibration data"
_END = object()


class Examples(list[Any]):
    """Example inputs in place of calibration data, for what does not depend on ranges. Nothing is concluded from their
    numbers, which may be zeros."""


def check(calibration: Any) -> None:
    """Refuses values that cannot be calibration data, before any work is done."""
    if calibration is None:
        raise UserError(f"{DATA} is missing: quantization needs representative inputs; one to a few hundred do")
    if isinstance(calibration, (str, bytes, Path)):
        raise UserError(f"{DATA} is {calibration!r}; give the samples: numpy.load of an .npz file, for example")
    if not isinstance(calibration, (Iterable, torch.Tensor)) and not hasattr(calibration, "__getitem__"):
        raise UserError(f"{DATA} is {type(calibration).__name__}; give an iterable of samples")


def read(calibration: Any, inputs: Inputs) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yields the samples, each with the shapes of `inputs.tensors`. UserError names the first unusable sample."""
    for index, sample in enumerate(_split(calibration, inputs)):
        for number, tensor in enumerate(sample):
            require_finite(tensor.numpy(), f"sample {index} of the {DATA}: input {number}")
        yield sample


def _split(calibration: Any, inputs: Inputs) -> Iterator[tuple[torch.Tensor, ...]]:
    if isinstance(calibration, (torch.Tensor, np.ndarray)):
        rows = list(_rows(inputs.flatten(calibration, f"the {DATA}"), inputs, f"the {DATA}"))
        yield from numbered(rows, "sample")
        return
    if isinstance(calibration, Mapping):
        specs = [samples.InputSpec(name, tuple(tensor.shape)) for name, tensor in zip(inputs.names, inputs.tensors)]
        arrays = {name: _array(array, name) for name, array in calibration.items()}
        for sample in numbered(samples.select(arrays, specs, f"the {DATA}"), "sample"):
            yield inputs.checked(sample, f"the {DATA}")
        return
    count = len(calibration) if isinstance(calibration, (list, tuple)) else None
    for index, sample in enumerate(numbered(_guarded(calibration), "sample", count)):
        what = f"sample {index} of the {DATA}"
        yield from _rows(inputs.flatten(sample, what), inputs, what)


def _array(array: Any, name: str) -> np.ndarray:
    if isinstance(array, torch.Tensor):
        return array.detach().cpu().numpy()
    if isinstance(array, np.ndarray):
        return array
    raise UserError(f"{DATA}: item {name!r} is {type(array).__name__}, not an array of samples")


def _guarded(calibration: Any) -> Iterator[Any]:
    """Yields the items. Exceptions of the caller's iterator become errors that name the sample."""
    count = 0
    iterator: Optional[Iterator[Any]] = None
    while True:
        with users_code(f"{DATA}: sample {count} cannot be read"), as_caller():
            iterator = iter(calibration) if iterator is None else iterator
            item = next(iterator, _END)
        if item is _END:
            return
        yield item
        count += 1


def _rows(tensors: tuple[torch.Tensor, ...], inputs: Inputs, what: str) -> Iterator[tuple[torch.Tensor, ...]]:
    """The samples in tensors of one or more rows."""
    shapes, wanted = [list(t.shape) for t in tensors], [list(t.shape) for t in inputs.tensors]
    if shapes == wanted:
        yield tensors
        return
    counts = {_multiple(shape, of) for shape, of in zip(shapes, wanted)}
    if len(counts) != 1 or 0 in counts:
        raise UserError(
            f"{what} has shapes {shapes}, the model's inputs {wanted}; only the number of rows, the first "
            "dimension, may be a multiple of the model's"
        )
    for index in range(counts.pop()):
        yield tuple(t[index * of[0] : (index + 1) * of[0]] for t, of in zip(tensors, wanted))


def _multiple(shape: list[int], of: list[int]) -> int:
    """How many times the rows of `of` `shape` has; 0 if it is not a whole multiple."""
    if not of or len(shape) != len(of) or shape[1:] != of[1:] or not of[0] or shape[0] % of[0]:
        return 0
    return shape[0] // of[0]
