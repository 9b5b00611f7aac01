"""Model inputs in .npz files.

A file has one array for each input, named as the parameter of the model's `forward`, or
`input0`, `input1`, ... by position; if the model has one input, its array may have any name.
The first dimension counts samples: for an input of shape (B, ...) the array has shape
(samples * B, ...), and sample i is rows i * B to (i + 1) * B. Element types are those of the
model: float32, int8 for int8 inputs, bool (or int8 of 0 and 1, once the model is compiled), int64 or int32 for indices.

In a file of sequences, for a model that keeps a state, the first two dimensions count sequences and steps: for an input
of shape (1, ...) the array has shape (sequences, steps, ...), and for one of shape (B, ...) with another B it has
shape (sequences, steps, B, ...). All sequences have as many steps.
"""

from __future__ import annotations

import contextlib
import math
import os
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from ..format.element import KERNEL_ELEMENTS, Element, named
from ..support.errors import UserError, require_file
from ..support.finite import require_finite

Sample = tuple[np.ndarray, ...]

_NPY_MAGIC = b"\x93NUMPY"
_MACHINE_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@dataclass(frozen=True)
class InputSpec:
    """An input. If `shape` is None, it comes from the file, with a batch of 1."""

    name: str
    shape: Optional[tuple[int, ...]] = None


def load(
    path: Union[str, Path], specs: Sequence[InputSpec], purpose: str, leave_out: Collection[str] = ()
) -> list[Sample]:
    """The samples in file `path`; UserError says what is wrong with it, NaN and infinity included.
    `purpose` is for messages: what the file is for, "calibration data". Arrays named in `leave_out` are no inputs."""
    with opened(path, purpose) as arrays:
        return select(arrays.without(leave_out), specs, path)


def load_sequences(
    path: Union[str, Path], specs: Sequence[InputSpec], purpose: str, leave_out: Collection[str] = ()
) -> list[dict[str, np.ndarray]]:
    """Returns the sequences in file `path`, each as arrays by the names of inputs, as in a file of its samples.
    Arguments and errors are those of `load`; numbers are not checked."""
    with opened(path, purpose) as file:
        arrays = file.without(leave_out)
        chosen = [_choose(arrays, index, specs, path) for index in range(len(specs))]
    counts = {}
    for array, spec in zip(chosen, specs):
        step = None if spec.shape is None else spec.shape[1:] if spec.shape[:1] == (1,) else spec.shape
        if array.ndim < 2 or (step is not None and array.shape[2:] != step):
            wanted = ", ".join(map(str, ("sequences", "steps", *(step or ()), *([] if step is not None else ["..."]))))
            shape = "" if spec.shape is None else f"shape {list(spec.shape)} and "
            raise UserError(
                f"{path}: input {spec.name} has {shape}the array {list(array.shape)}, which of sequences must be "
                f"({wanted})"
            )
        counts[spec.name] = array.shape[:2]
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count} and {steps}" for name, (count, steps) in counts.items())
        raise UserError(f"{path}: inputs have different numbers of sequences and steps: {shown}")
    if not all(map(all, counts.values())):
        raise UserError(f"{path} holds no steps")
    return [
        {
            # Rows of all steps, one behind the other.
            spec.name: array[index].reshape(-1, *(array.shape[2:] if spec.shape is None else spec.shape[1:]))
            for array, spec in zip(chosen, specs)
        }
        for index in range(chosen[0].shape[0] if chosen else 0)
    ]


def select(arrays: Mapping[str, np.ndarray], specs: Sequence[InputSpec], path: Union[str, Path]) -> list[Sample]:
    """Returns the samples in arrays that follow the rules of a file; messages name `path` as their origin."""
    chosen = [_choose(arrays, index, specs, path) for index in range(len(specs))]
    columns = [_split(array, spec, path) for array, spec in zip(chosen, specs)]
    counts = {spec.name: len(column) for spec, column in zip(specs, columns)}
    if len(set(counts.values())) > 1:
        raise UserError(f"{path}: inputs have different numbers of samples: {counts}")
    if not columns or not columns[0]:
        raise UserError(f"{path} holds no samples")
    return list(zip(*columns))


class ArchivedArrays(Mapping[str, np.ndarray]):
    """The arrays of an .npz file by name. Each is read when it is asked for, unless what it says of its size cannot be:
    a compressed file of some MB may stand for more than the machine has."""

    def __init__(self, archive: Any, failure: str, names: Sequence[str]) -> None:
        self._archive, self._failure, self._names = archive, failure, names

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        with _readable(self._failure):
            nbytes = _stated_bytes(self._archive.zip, name)
            if nbytes > _MACHINE_BYTES:
                raise ValueError(f"array {name!r} would take {nbytes:,} bytes, more than this machine has")
            return np.asarray(self._archive[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def without(self, names: Collection[str]) -> ArchivedArrays:
        """Returns the others."""
        return ArchivedArrays(self._archive, self._failure, [name for name in self._names if name not in names])


@contextlib.contextmanager
def opened(path: Union[str, Path], purpose: str) -> Iterator[ArchivedArrays]:
    """Yields the arrays of a file; UserError and `purpose` as for `load`."""
    path = Path(path)
    require_file(path, f"{purpose}: ", "give an .npz file with model inputs")
    failure = f"{purpose}: {path} is not a readable .npz file"
    with _readable(failure):
        if not zipfile.is_zipfile(path):
            with open(path, "rb") as file:
                single = file.read(len(_NPY_MAGIC)) == _NPY_MAGIC
            found = "it is a single array" if single else "it is no archive of arrays"
            raise ValueError(f"{found}; write it with numpy.savez")
        archive = np.load(path, allow_pickle=False)
    with archive:
        yield ArchivedArrays(archive, failure, archive.files)


@contextlib.contextmanager
def _readable(failure: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # zipfile, zlib and numpy have many ways to say it
        raise UserError(f"{failure}: {error}") from error


def _stated_bytes(archive: zipfile.ZipFile, name: str) -> int:
    """Returns the size that the header of an array states."""
    with archive.open(f"{name}.npy") as member:
        version = np.lib.format.read_magic(member)
        # Later versions of headers differ in the encoding of names of fields, which inputs have none of.
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(member)
    return math.prod(shape) * dtype.itemsize


def _choose(
    arrays: Mapping[str, np.ndarray], index: int, specs: Sequence[InputSpec], path: Union[str, Path]
) -> np.ndarray:
    names = (specs[index].name, f"input{index}", *(arrays if len(specs) == len(arrays) == 1 else ()))
    for name in names:
        if name in arrays:
            return _checked(arrays[name], name, path)
    held = ", ".join(arrays) or "no arrays"
    raise UserError(f"{path} has no array {names[0]!r} or {names[1]!r} for input {index}; it holds {held}")


def _checked(array: np.ndarray, name: str, path: Union[str, Path]) -> np.ndarray:
    if array.dtype == np.float64:
        raise UserError(f"{path}: array {name!r} is float64, models here take float32; save it with .astype('float32')")
    if array.dtype not in (*(element.numpy for element in Element if element.at_border), np.bool_):
        numbers = ", ".join(element.value for element in (Element.FLOAT32, *KERNEL_ELEMENTS))
        indices = named(*(element for element in Element if element.is_index))
        raise UserError(f"{path}: array {name!r} is {array.dtype}; inputs are {numbers} or bool, and indices {indices}")
    return array


def for_device(array: np.ndarray) -> np.ndarray:
    """Returns an input as compiled models take it: bool as int8, of the same bytes, 0 and 1."""
    return array.astype(np.int8) if array.dtype == np.bool_ else array


def _split(array: np.ndarray, spec: InputSpec, path: Union[str, Path]) -> list[np.ndarray]:
    if array.ndim == 0:
        raise UserError(f"{path}: the array for input {spec.name} has no dimension for samples")
    shape = spec.shape or (1, *array.shape[1:])
    if array.shape[1:] != shape[1:] or array.shape[0] % shape[0]:
        wanted = ", ".join(map(str, shape[1:]))
        raise UserError(
            f"{path}: input {spec.name} has shape {list(shape)}, so its array must be "
            f"(samples * {shape[0]}, {wanted}), not {list(array.shape)}"
        )
    rows = [array[i : i + shape[0]] for i in range(0, array.shape[0], shape[0])]
    for index, row in enumerate(rows):
        require_finite(row, f"{path}: sample {index} of input {spec.name}")
    return rows
