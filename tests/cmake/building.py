"""Finds the source tree, runs CMake, and compiles a model for the firmware of examples/cmake_firmware."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.emit import c_header, cpp_sources, kernel_table
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks

# The source tree itself, which CMake reads, not the copies in runfiles.
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

_MINIMUM = (3, 24)
TOOLCHAIN = ROOT / "platforms/cmake/arm-none-eabi.cmake"
ONLY_KERNELS = ROOT / "tests/cmake/only_kernels.sh"
QUICK = ROOT / "tests/cmake/quick.cmake"


def _cmake_absent() -> str:
    """Returns why CMake cannot be used, or ""."""
    if shutil.which("cmake") is None:
        return "cmake is not on PATH"
    output = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, re.search(r"(\d+)\.(\d+)", output).groups()))
    return "" if version >= _MINIMUM else f"cmake is older than {'.'.join(map(str, _MINIMUM))}"


def _arm_absent() -> str:
    """Returns why firmware cannot be built and run, or ""."""
    hint = os.environ.get("ARM_GNU_TOOLCHAIN", "")
    if not shutil.which("arm-none-eabi-gcc") and not os.path.exists(f"{hint}/bin/arm-none-eabi-gcc"):
        return "arm-none-eabi-gcc is not on PATH"
    return "" if shutil.which("qemu-system-arm") else "qemu-system-arm is not on PATH"


def delegate_sources() -> list[pathlib.Path]:
    """Returns the C++ sources of the delegate and its tests; only Bazel builds the runner."""
    paths = [path for suffix in ("cc", "h") for path in ROOT.glob(f"runtime/**/*.{suffix}")]
    return sorted(path for path in paths if ROOT / "runtime/runner" not in path.parents)


needs_cmake = pytest.mark.skipif(bool(_cmake_absent()), reason=_cmake_absent() or "present")
needs_arm = pytest.mark.skipif(bool(_arm_absent()), reason=_arm_absent() or "present")


def run(*command, **options) -> str:
    """Returns the standard output of a command; a failure shows all output."""
    result = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **options,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}"
    return result.stdout


def configure(source, build, *options, **run_options) -> None:
    generator = ["-G", "Ninja"] if shutil.which("ninja") else ["-G", "Unix Makefiles"]
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    run("cmake", "-S", source, "-B", build, *generator, python, *options, **run_options)


def build(folder, *options, **run_options) -> str:
    return run("cmake", "--build", folder, "--parallel", "2", *options, **run_options)


def only_kernels(folder) -> list[str]:
    """Returns options for configure() with which the build compiles of the kernels only those that list_kernels() has
    written to `folder`, because all take minutes. Bazel compiles the others for each instruction set, and the build for
    a Cortex-M55 does with CMake."""
    launcher = f"sh;{ONLY_KERNELS};{list_of_kernels(folder)}"
    return [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")]


def list_kernels(payload: bytes, folder) -> None:
    """Writes for only_kernels() which sources compute the calls of `payload`."""
    list_of_kernels(folder).write_text("".join(f"{name}\n" for name in sorted(kernel_sources(payload))))


def kernel_sources(payload: bytes) -> set[str]:
    """Returns the names of the sources that compute the calls of `payload`, with and without CMSIS-NN."""
    listed = "".join(cpp_sources.generate_list("net", payload, with_it) for with_it in (True, False))
    return set(re.findall(r"(\w+\.cc?)\"$", listed, re.MULTILINE))


def list_of_kernels(folder) -> pathlib.Path:
    """Returns the file that list_kernels() writes."""
    return pathlib.Path(folder) / "kernels.txt"


def pattern_of(shape) -> np.ndarray:
    """Returns the input of the example, int8, for a model with an input of one channel."""
    assert shape[1] == 1  # storage order is logical order
    return (37 * np.arange(np.prod(shape)) % 256).astype(np.uint8).view(np.int8).reshape(shape)


def line_of(graph) -> str:
    """Returns the line that the example prints for a model."""
    (expected,) = reference.run(graph, [pattern_of(graph.inputs[0].shape)])
    return expected.astype(np.int8).tobytes().hex()


def expected_line(folder) -> str:
    """Returns that line for the model that `cmsisnn compile` has written to `folder`."""
    graph, _ = serialize.loads((folder / "net.graph.npz").read_bytes())
    return line_of(graph)


def network(core: str):
    """Returns the graph of the network that write_model() writes, and its payload for `core`."""
    graph = networks.ds_cnn()
    return graph, encode(graph, get_target(core.replace("_", "-"))).payload


def write_model(core: str, folder) -> str:
    """Writes net.h and net.c for `core` ("cortex_m4"); returns the line that the firmware must print."""
    graph, payload = network(core)
    folder.mkdir()
    (folder / "net.h").write_text(c_header.generate_header("net", payload))
    (folder / "net.kernels.h").write_text(kernel_table.generate_kernel_table("net", payload))
    (folder / "net.c").write_text(c_header.generate_source("net", payload))
    return line_of(graph)
