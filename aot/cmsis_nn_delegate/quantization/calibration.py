"""Calibration data: what `compile_model` accepts, as samples of checked tensors.

Accepted are

* any iterable of samples, a generator or a DataLoader for example. A sample is what `forward` takes, like
  the example inputs; for a model of one input also a tensor by itself;
* a dict of arrays by input name, such as `numpy.load` of an .npz file, or, for a model of one input, one array.

An array has the rows of several samples where the example input has fewer rows: for an input of shape
(B, ...) and an array of shape (n * B, ...) rows i * B to (i + 1) * B are sample i.

For a model that keeps a state, all of them are one sequence of steps. `Sequences` has several, each in one of these
forms: the state starts anew with each.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch

from ..support.checked import checked
from ..support.errors import UserError, users_code
from ..support.finite import require_finite
from ..support.heartbeat import numbered
from ..support.isolation import as_caller
from . import samples
from .interface import Inputs

Sample = tuple[torch.Tensor, ...]

DATA = "calibration data"
_END = object()


class Examples:
    """The example inputs in place of calibration data, for what does not depend on ranges. Nothing is concluded from
    their numbers, which may be zeros."""


class Sequences:
    """Calibration data of a model that keeps a state from one inference to the next: several sequences, with each of
    which the state starts anew from its initial value.

    sequences: an iterable of sequences. Each is what `calibration` of `compile_model` may be: an iterable of samples,
        one for each step, or their arrays. Sequences may differ in length.
    """

    @checked("sequences")
    def __init__(self, sequences: Iterable[Any]) -> None:
        if isinstance(sequences, (str, bytes, Path, Mapping)) or not _is_iterable(sequences):
            raise UserError(
                f"Sequences has {type(sequences).__name__}; give an iterable of sequences, each an iterable of samples"
            )
        self.sequences = sequences


def check(calibration: Any, what: str = DATA) -> None:
    """Refuses values that cannot be calibration data, before any work is done."""
    if isinstance(calibration, (Examples, Sequences)) and what == DATA:
        return
    if calibration is None:
        raise UserError(f"{what} is missing: quantization needs representative inputs; one to a few hundred do")
    if isinstance(calibration, (str, bytes, Path)):
        raise UserError(f"{what} is {calibration!r}; give the samples: numpy.load of an .npz file, for example")
    if not _is_iterable(calibration):
        raise UserError(f"{what} is {type(calibration).__name__}; give an iterable of samples")


def _is_iterable(data: Any) -> bool:
    return isinstance(data, (Iterable, torch.Tensor)) or hasattr(data, "__getitem__")


def read(calibration: Any, inputs: Inputs) -> Iterator[Iterator[Sample]]:
    """Yields the sequences of samples, each sample with the shapes of `inputs.tensors`; one sequence if `calibration`
    is no `Sequences`. Each has to be read before the next one. UserError names the first unusable sample."""
    if isinstance(calibration, Examples):
        yield iter([inputs.tensors])
    elif not isinstance(calibration, Sequences):
        yield _finite(calibration, inputs, DATA)
    else:
        count = len(calibration.sequences) if isinstance(calibration.sequences, (list, tuple)) else None
        for index, sequence in enumerate(
            numbered(_guarded(calibration.sequences, "sequence", DATA), "sequence", count)
        ):
            what = f"sequence {index} of the {DATA}"
            check(sequence, what)
            samples_of_it = _finite(sequence, inputs, what)
            first = next(samples_of_it, None)
            if first is None:
                raise UserError(f"{what} is empty: leave it out, or give it a sample for each step")
            yield itertools.chain([first], samples_of_it)


def _finite(calibration: Any, inputs: Inputs, data: str) -> Iterator[Sample]:
    for index, sample in enumerate(_split(calibration, inputs, data)):
        for number, tensor in enumerate(sample):
            require_finite(tensor.numpy(), f"sample {index} of {_the(data)}: input {number}")
        yield sample


def _the(data: str) -> str:
    return f"the {data}" if data == DATA else data


def _split(calibration: Any, inputs: Inputs, data: str) -> Iterator[Sample]:
    """Yields the samples of one sequence, which messages call `data`."""
    if isinstance(calibration, (torch.Tensor, np.ndarray)):
        rows = list(_rows(inputs.flatten(calibration, _the(data)), inputs, _the(data)))
        yield from numbered(rows, "sample")
        return
    if isinstance(calibration, Mapping):
        specs = [samples.InputSpec(name, tuple(tensor.shape)) for name, tensor in zip(inputs.names, inputs.tensors)]
        arrays = {name: _array(array, name, data) for name, array in calibration.items()}
        for sample in numbered(samples.select(arrays, specs, _the(data)), "sample"):
            yield inputs.checked(sample, _the(data))
        return
    count = len(calibration) if isinstance(calibration, (list, tuple)) else None
    for index, sample in enumerate(numbered(_guarded(calibration, "sample", data), "sample", count)):
        what = f"sample {index} of {_the(data)}"
        yield from _rows(inputs.flatten(sample, what), inputs, what)


def _array(array: Any, name: str, data: str) -> np.ndarray:
    if isinstance(array, torch.Tensor):
        return array.detach().cpu().numpy()
    if isinstance(array, np.ndarray):
        return array
    raise UserError(f"{data}: item {name!r} is {type(array).__name__}, not an array of samples")


def _guarded(calibration: Any, item_is: str, data: str) -> Iterator[Any]:
    """Yields the items. Exceptions of the caller's iterator become errors that name the item."""
    count = 0
    iterator: Optional[Iterator[Any]] = None
    while True:
        with users_code(f"{data}: {item_is} {count} cannot be read"), as_caller():
            iterator = iter(calibration) if iterator is None else iterator
            item = next(iterator, _END)
        if item is _END:
            return
        yield item
        count += 1


def _rows(tensors: Sample, inputs: Inputs, what: str) -> Iterator[Sample]:
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
