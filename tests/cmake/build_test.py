"""Configures, builds and runs the CMake mirror. Skipped where CMake, a compiler or QEMU is absent."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.payload import c_header
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks
from tests.cmake import source_tree
from tests.cmake.source_tree import ROOT

_MINIMUM = (3, 24)
_TOOLCHAIN = ROOT / "platforms/cmake/arm-none-eabi.cmake"
_EXAMPLE = ROOT / "examples/cmake_firmware"


def _cmake_absent() -> str:
    """Why CMake cannot be used, or ""."""
    if shutil.which("cmake") is None:
        return "cmake is not on PATH"
    output = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, re.search(r"(\d+)\.(\d+)", output).groups()))
    return "" if version >= _MINIMUM else f"cmake is older than {'.'.join(map(str, _MINIMUM))}"


def _arm_absent() -> str:
    """Why firmware cannot be built and run, or ""."""
    hint = os.environ.get("ARM_GNU_TOOLCHAIN", "")
    if not shutil.which("arm-none-eabi-gcc") and not os.path.exists(f"{hint}/bin/arm-none-eabi-gcc"):
        return "arm-none-eabi-gcc is not on PATH"
    return "" if shutil.which("qemu-system-arm") else "qemu-system-arm is not on PATH"


pytestmark = pytest.mark.skipif(bool(_cmake_absent()), reason=_cmake_absent() or "present")
needs_arm = pytest.mark.skipif(bool(_arm_absent()), reason=_arm_absent() or "present")


def _run(*command, **options) -> str:
    """Standard output of a command; a failure shows all that it printed."""
    result = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, stdin=subprocess.DEVNULL, **options,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}"
    return result.stdout


def _configure(source, build, *options) -> None:
    generator = ["-G", "Ninja"] if shutil.which("ninja") else ["-G", "Unix Makefiles"]
    _run("cmake", "-S", source, "-B", build, *generator, f"-DPython3_EXECUTABLE={sys.executable}", *options)


def _build(build, *options) -> str:
    return _run("cmake", "--build", build, "--parallel", "2", *options)


def test_host_tests_pass_under_ctest(tmp_path):
    _configure(ROOT, tmp_path)
    _build(tmp_path)
    shown = json.loads(_run("ctest", "--test-dir", tmp_path, "--show-only=json-v1"))
    expected = {
        name
        for folder in source_tree.MIRRORED
        for name, target in source_tree.bazel_targets(folder).items()
        if target.kind == "test"
    }
    assert {test["name"] for test in shown["tests"]} == expected
    # Each ran some tests, and none failed.
    output = _run("ctest", "--test-dir", tmp_path, "--verbose")
    counts = [int(count) for count in re.findall(r"\[  PASSED  \] (\d+) test", output)]
    assert len(counts) == len(expected) and min(counts) > 0
    assert (tmp_path / "runtime/libcmsis_nn_delegate.so").exists()


@needs_arm
@pytest.mark.parametrize("core", ["cortex_m0plus", "cortex_m4", "cortex_m55"])
def test_a_firmware_with_the_installed_package_computes_what_the_reference_does(core, tmp_path):
    toolchain = [f"-DCORE={core}", "--toolchain", _TOOLCHAIN, "-DCMAKE_BUILD_TYPE=MinSizeRel"]
    delegate, prefix, firmware, model = (tmp_path / n for n in ("delegate", "prefix", "firmware", "model"))
    _configure(ROOT, delegate, *toolchain)
    _build(delegate)
    _run("cmake", "--install", delegate, "--prefix", prefix)

    graph = networks.ds_cnn()
    payload = encode(graph, get_target(core.replace("_", "-"))).payload
    model.mkdir()
    (model / "net.h").write_text(c_header.generate_header("net", payload))
    (model / "net.c").write_text(c_header.generate_source("net", payload))

    _configure(_EXAMPLE, firmware, *toolchain, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMODEL_DIR={model}")
    _build(firmware)
    output = _run("cmake", "--build", firmware, "--target", "firmware_run", timeout=300)
    shape = graph.inputs[0].shape
    assert shape[1] == 1  # one channel: storage order is logical order
    pattern = (37 * np.arange(np.prod(shape)) % 256).astype(np.uint8).view(np.int8).reshape(shape)
    (expected,) = reference.run(graph, [pattern])
    assert expected.astype(np.int8).tobytes().hex() in output.splitlines()
    assert "##EXIT rc=0##" in output


@needs_arm
@pytest.mark.skipif("CMSIS_NN_DIR" not in os.environ, reason="CMSIS_NN_DIR is not set (--test_env=CMSIS_NN_DIR)")
@pytest.mark.parametrize("core", ["cortex_m4", "cortex_m55"])
def test_kernels_of_cmsis_nn_build_and_are_installed(core, tmp_path):
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    _configure(ROOT, build, f"-DCORE={core}", "--toolchain", _TOOLCHAIN)
    _build(build)
    _run("cmake", "--install", build, "--prefix", prefix)
    sources, _ = source_tree.evaluate((ROOT / "third_party/cmsis_nn/sources.bzl").read_text(encoding="utf-8"))
    archive = prefix / "lib/libcmsis_nn_delegate_third_party_cmsis_nn.a"
    members = _run("ar", "t", archive).split()
    assert sorted(members) == sorted(f"{os.path.basename(name)}.obj" for name in sources["CMSIS_NN_SOURCES"])
    assert (prefix / "include/cmsis_nn_delegate/runtime/kernels/cmsis_nn/cmsis_nn.h").exists()


def test_tables_are_read_as_bazel_reads_them(tmp_path):
    cores, _ = source_tree.evaluate((ROOT / "platforms/cores.bzl").read_text(encoding="utf-8"))
    boards, _ = source_tree.evaluate((ROOT / "platforms/boards.bzl").read_text(encoding="utf-8"))
    assert len(cores["CORES"]) == 7
    for name, core in cores["CORES"].items():
        script = tmp_path / f"{name}.cmake"
        script.write_text(f"""
include({ROOT}/platforms/cmake/table.cmake)
cmsis_nn_delegate_core({name})
cmsis_nn_delegate_board(${{CORE_BOARD}})
foreach(variable CORE_CPU CORE_FLAGS CORE_ISA CORE_BOARD CORE_SUBSTITUTE BOARD_MACHINE BOARD_UART BOARD_MEMORIES)
  message("${{variable}}=${{${{variable}}}}")
endforeach()
""")
        output = _run("cmake", "-P", script)
        values = dict(re.findall(r"^(\w+)=(.*)$", output, re.MULTILINE))
        assert values["CORE_CPU"] == core["cpu"]
        assert values["CORE_FLAGS"].split(";") == core["flags"]
        assert values["CORE_ISA"] == core["isa"]
        assert values["CORE_BOARD"] == core["board"]
        assert values["CORE_SUBSTITUTE"].split(";") == cores["_SUBSTITUTES"].get(name, [""])
        board = boards["BOARDS"][core["board"]]
        assert values["BOARD_MACHINE"] == board["machine"]
        assert int(values["BOARD_UART"], 16) == board["uart"]
        unit = {"K": 1024, "M": 1024 * 1024}
        memories = {
            memory: (int(origin, 16), int(size) * unit[suffix])
            for memory, origin, size, suffix in re.findall(
                r"(\w+) : ORIGIN = (\w+), LENGTH = (\d+)([KM])", output
            )
        }
        assert memories == board["memories"]


@needs_arm
def test_an_unknown_core_is_told_with_the_known_ones(tmp_path):
    result = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "--toolchain", _TOOLCHAIN, "-DCORE=cortex_m99"],
        capture_output=True, text=True, check=False,
    )
    assert result.returncode != 0
    message = " ".join(result.stderr.split())
    assert "CORE=cortex_m99 is none of" in message and "cortex_m0plus" in message and "cortex_m85" in message


_TREE = """
cmake_minimum_required(VERSION 3.24)
project(tree CXX)
add_library(executorch_core INTERFACE)
target_include_directories(
  executorch_core INTERFACE ${HEADERS} ${HEADERS}/executorch/runtime/core/portable_type/c10
)
target_compile_definitions(executorch_core INTERFACE C10_USING_CUSTOM_GENERATED_MACROS)
add_definitions(-DET_LOG_ENABLED=0)
add_subdirectory(backends/cmsis_nn)
if(EXECUTORCH_BUILD_CMSIS_NN)
  add_library(program STATIC program.cc)
  target_link_libraries(program cmsis_nn_delegate::backend cmsis_nn_delegate::portable)
elseif(TARGET cmsis_nn_delegate::backend)
  message(FATAL_ERROR "built without being asked for")
endif()
"""
_PROGRAM = """
#include "runtime/backend/register.h"
#include "runtime/kernels/portable/portable.h"
#if ET_LOG_ENABLED || defined(ET_EVENT_TRACER_ENABLED)
#error not as the tree has it
#endif
bool ready() {
  return cmsis_nn_delegate::register_cmsis_nn_backend(cmsis_nn_delegate::kPortableKernels) ==
         executorch::runtime::Error::Ok;
}
"""


def test_in_a_tree_it_uses_the_target_executorch_core_and_only_if_asked(tmp_path):
    """A stand-in for an ExecuTorch tree: the same target, option and folder."""
    tree = tmp_path / "executorch"
    (tree / "backends").mkdir(parents=True)
    (tree / "backends/cmsis_nn").symlink_to(ROOT)
    (tree / "CMakeLists.txt").write_text(_TREE)
    (tree / "program.cc").write_text(_PROGRAM)
    headers = _run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    headers += "/executorch/include"
    _configure(tree, tmp_path / "off", f"-DHEADERS={headers}")
    assert "cmsis_nn_delegate" not in _run("cmake", "--build", tmp_path / "off", "--target", "help")
    _configure(tree, tmp_path / "on", f"-DHEADERS={headers}", "-DEXECUTORCH_BUILD_CMSIS_NN=ON")
    _build(tmp_path / "on", "--target", "program")
