"""What is read of .npz files, and what is not."""

import io
import zipfile

import numpy as np
import pytest

from cmsis_nn_delegate.quantization import samples
from cmsis_nn_delegate.quantization.samples import InputSpec, load
from cmsis_nn_delegate.support.errors import UserError


def archive(path, **members):
    """Writes a file whose members state shapes and hold only the first bytes of such arrays."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, shape in members.items():
            content = io.BytesIO()
            np.lib.format.write_array_header_1_0(content, {"descr": "<f4", "fortran_order": False, "shape": shape})
            file.writestr(f"{name}.npy", content.getvalue() + bytes(4 * 6))
    return path


def test_only_inputs_are_read(tmp_path):
    path = archive(tmp_path / "x.npz", x=(2, 3), y=(1 << 30, 1 << 10), labels=(50,))
    (first, second) = load(path, [InputSpec("x", (1, 3))], "data")
    assert first[0].tolist() == second[0].tolist() == [[0, 0, 0]]
    with samples.opened(path, "data") as arrays, pytest.raises(UserError, match="x.npz is not a readable .npz file"):
        arrays["labels"]  # shorter than it says


def test_an_array_that_no_machine_holds_is_not_read(tmp_path):
    path = archive(tmp_path / "x.npz", x=(1 << 40, 3))
    with pytest.raises(UserError, match="array 'x' would take 13,194,139,533,312 bytes, more than this machine has"):
        load(path, [InputSpec("x", (1, 3))], "data")


def sequences(tmp_path, shape=(1, 3), **arrays):
    np.savez(tmp_path / "x.npz", **arrays)
    specs = [InputSpec(name, shape) for name in arrays if name != "labels"]
    return samples.load_sequences(tmp_path / "x.npz", specs, "data", ("labels",))


def test_sequences_of_steps(tmp_path):
    """Each sequence is the rows of its steps, also where an input has several rows."""
    x = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    found = sequences(tmp_path, x=x, labels=np.zeros(8, np.int64))
    assert [list(arrays) for arrays in found] == [["x"], ["x"]]
    assert np.array_equal([arrays["x"] for arrays in found], x)
    found = sequences(tmp_path, shape=None, x=x)
    assert np.array_equal([arrays["x"] for arrays in found], x)
    (found,) = sequences(tmp_path, shape=(2, 3), x=x.reshape(1, 4, 2, 3))
    assert np.array_equal(found["x"], x.reshape(8, 3))
    first, second = sequences(tmp_path, shape=(1,), x=x[..., 0], y=x[..., 1])
    assert np.array_equal(first["x"], x[0, :, 0]) and np.array_equal(second["y"], x[1, :, 1])


@pytest.mark.parametrize(
    "shape, arrays, message",
    [
        (
            (1, 3),
            {"x": (8, 3)},
            r"input x has shape \[1, 3\] and the array \[8, 3\], which of sequences must be \(sequences, steps, 3\)",
        ),
        ((1, 3), {"x": (2, 4, 1, 3)}, r"the array \[2, 4, 1, 3\], which of sequences must be \(sequences, steps, 3\)"),
        ((2, 3), {"x": (2, 4, 3)}, r"the array \[2, 4, 3\], which of sequences must be \(sequences, steps, 2, 3\)"),
        (None, {"x": (8,)}, r"input x has the array \[8\], which of sequences must be \(sequences, steps, ...\)"),
        ((1, 3), {"x": (2, 4, 3), "y": (2, 5, 3)}, "different numbers of sequences and steps: x 2 and 4, y 2 and 5"),
        ((1, 3), {"x": (2, 0, 3)}, "holds no steps"),
        ((1, 3), {"x": (0, 4, 3)}, "holds no steps"),
    ],
)
def test_arrays_that_are_no_sequences(tmp_path, shape, arrays, message):
    with pytest.raises(UserError, match=message):
        sequences(tmp_path, shape, **{name: np.zeros(size, np.float32) for name, size in arrays.items()})
