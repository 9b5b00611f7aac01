"""Model inputs in .npz files.

A file has one array for each input, named as the parameter of the model's `forward`, or
`input0`, `input1`, ... by position; if the model has one input, its array may have any name.
The first dimension counts samples: for an input of shape (B, ...) the array has shape
(samples * B, ...), and sample i is rows i * B to (i + 1) * B. Element types are those of the
model: float32, int8 for int8 inputs, bool (or int8 of 0 and 1, once the model is compiled), int64 or int32 for indices.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

import numpy as np

from ..errors import UserError
from ..finite import require_finite

Sample = tuple[np.ndarray, ...]


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
    arrays = {name: array for name, array in read(path, purpose).items() if name not in leave_out}
    return select(arrays, specs, path)


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


def read(path: Union[str, Path], purpose: str) -> dict[str, np.ndarray]:
    """The arrays of a file by name; UserError and `purpose` as for `load`."""
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{purpose}: {path} does not exist; give an .npz file with model inputs")
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("it is a single array; use numpy.savez")
        with archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # zipfile, zlib and numpy have many ways to say it
        raise UserError(f"{purpose}: {path} is not a readable .npz file: {error}") from error


def _choose(
    arrays: Mapping[str, np.ndarray], index: int, specs: Sequence[InputSpec], path: Union[str, Path]
) -> np.ndarray:
    names = (specs[index].name, f"input{index}")
    for name in names:
        if name in arrays:
            return _checked(arrays[name], name, path)
    if len(specs) == 1 and len(arrays) == 1:
        name, array = next(iter(arrays.items()))
        return _checked(array, name, path)
    held = ", ".join(arrays) or "no arrays"
    raise UserError(f"{path} has no array {names[0]!r} or {names[1]!r} for input {index}; it holds {held}")


def _checked(array: np.ndarray, name: str, path: Union[str, Path]) -> np.ndarray:
    if array.dtype == np.float64:
        raise UserError(f"{path}: array {name!r} is float64, models here take float32; save it with .astype('float32')")
    if array.dtype not in (np.float32, np.int8, np.bool_, np.int64, np.int32):
        raise UserError(
            f"{path}: array {name!r} is {array.dtype}; inputs are float32, int8 or bool, and indices int64 or int32"
        )
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
