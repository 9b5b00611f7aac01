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
