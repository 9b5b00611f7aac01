"""Configures, builds and runs the CMake build. Skipped if CMake, a compiler or QEMU is missing."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

from platforms.tools.check_image import boot2_checksum
from sim import simulator
from sim.elf import Elf
from tests.cmake.building import (
    QUICK,
    ROOT,
    TOOLCHAIN,
    build,
    configure,
    delegate_sources,
    expected_line,
    list_kernels,
    needs_arm,
    needs_cmake,
    network,
    only_kernels,
    run,
    write_model,
)

_EXAMPLE = ROOT / "examples/cmake_firmware"

pytestmark = needs_cmake


def test_host_tests_pass_under_ctest(tmp_path):
    # Without optimization and with precompiled headers; the firmware below is compiled as users do.
    options = [
        "-DCMAKE_CXX_FLAGS_DEBUG=",
        "-DCMAKE_C_FLAGS_DEBUG=",
        f"-DCMAKE_PROJECT_cmsis_nn_delegate_INCLUDE={QUICK}",
    ]
    configure(ROOT, tmp_path, "-DCMAKE_BUILD_TYPE=Debug", *options)
    build(tmp_path)
    shown = json.loads(run("ctest", "--test-dir", tmp_path, "--show-only=json-v1"))
    expected = {path.stem for path in delegate_sources() if path.name.endswith("_test.cc")}
    assert {test["name"] for test in shown["tests"]} == expected
    # Each program ran some tests, and none failed.
    output = run("ctest", "--test-dir", tmp_path, "--verbose")
    counts = [int(count) for count in re.findall(r"\[  PASSED  \] (\d+) test", output)]
    assert len(counts) == len(expected) and min(counts) > 0
    assert (tmp_path / "runtime/libcmsis_nn_delegate.so").exists()


class Installed(NamedTuple):
    """The delegate as CMake has built and installed it, with CMSIS-NN's kernels where its sources are given."""

    core: str
    prefix: pathlib.Path


# The core whose build has all kernels.
WHOLE = "cortex_m55"


@pytest.fixture(scope="module", params=["cortex_m0plus", "cortex_m4", WHOLE])
def installed(request, tmp_path_factory) -> Installed:
    folder = tmp_path_factory.mktemp(request.param)
    options = []
    if request.param != WHOLE:
        list_kernels(network(request.param)[1], folder)
        options = only_kernels(folder)
    configure(ROOT, folder / "build", *_toolchain(request.param), *options)
    build(folder / "build")
    run("cmake", "--install", folder / "build", "--prefix", folder / "prefix")
    return Installed(request.param, folder / "prefix")


def _toolchain(core):
    # Nothing here reads what debuggers get, which takes a seventh of the time of compiling.
    flags = [f"-DCMAKE_{language}_FLAGS_MINSIZEREL=-Os -DNDEBUG -g0" for language in ("C", "CXX")]
    return [f"-DCORE={core}", "--toolchain", TOOLCHAIN, "-DCMAKE_BUILD_TYPE=MinSizeRel", *flags]


@needs_arm
def test_a_firmware_with_the_installed_package_computes_what_the_reference_does(installed, tmp_path):
    firmware, model = tmp_path / "firmware", tmp_path / "model"
    expected = write_model(installed.core, model)
    package = [f"-DCMAKE_PREFIX_PATH={installed.prefix}", f"-DMODEL_DIR={model}"]
    configure(_EXAMPLE, firmware, *_toolchain(installed.core), *package)
    build(firmware)
    output = build(firmware, "--target", "firmware_run", timeout=300)
    assert expected in output.splitlines()
    assert "##EXIT rc=0##" in output


@needs_arm
@pytest.mark.parametrize("installed", [WHOLE], indirect=True)
def test_a_build_that_compiles_its_model_computes_what_the_reference_does(installed, tmp_path, monkeypatch):
    """In both forms, each with the kernels of its calls alone. The model is compiled once for both, and not again."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}/aot")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    firmware = tmp_path / "firmware"
    configure(_EXAMPLE, firmware, *_toolchain(WHOLE), f"-DCMAKE_PREFIX_PATH={installed.prefix}")
    assert build(firmware).count("Compiling model net for cortex-m55") == 1
    expected = expected_line(firmware / "net")
    for image, direct in (("firmware", False), ("cpp_firmware", True)):
        output = build(firmware, "--target", f"{image}_run", timeout=300)
        assert expected in output.splitlines() and "##EXIT rc=0##" in output
        symbols = run("nm", "--demangle", firmware / f"{image}.elf")
        assert "max_pool2d" in symbols and "softmax" not in symbols
        assert ("PayloadView" not in symbols) == direct
    assert "Compiling model" not in build(firmware)
    report = json.loads((firmware / "net/net.report.json").read_text(encoding="utf-8"))
    assert report["target"] == "cortex-m55"


def test_a_model_that_is_declared_wrong_is_told_how(tmp_path):
    for arguments, message in (
        ("net.py CALIBRATION x.npz", "net.py is not FILE.py:FUNCTION"),
        ("net.py:model TARGET cortex-m4", "CALIBRATION must name an .npz file"),
        ("net.py:model CALIBRATION x.npz", "there is no CORE, so TARGET must name one"),
        ("net.py:model CALIBRATION x.npz KERNELS tuned", "unknown arguments KERNELS;tuned"),
    ):
        script = tmp_path / "CMakeLists.txt"
        script.write_text(f"""
cmake_minimum_required(VERSION 3.24)
project(wrong NONE)
include({ROOT}/cmake/model.cmake)
cmsis_nn_delegate_model(net {arguments})
""")
        with pytest.raises(AssertionError) as error:
            run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
        assert message in " ".join(str(error.value).replace("\\n", "\n").split())


@pytest.mark.parametrize("memories", [(), ("dtcm=64K:activations,scratch,weights", "sram=256K")])
def test_the_memories_of_a_model_reach_the_compiler(memories, tmp_path):
    kernels = ("tuned", "own_calls", "direct_calls", "model")
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.24)
project(memories C CXX)
foreach(library {" ".join(kernels)})
  add_library(cmsis_nn_delegate::${{library}} INTERFACE IMPORTED)
endforeach()
include({ROOT}/cmake/model.cmake)
cmsis_nn_delegate_model(net net.py:model CALIBRATION x.npz TARGET cortex-m4 {"MEMORIES" if memories else ""}
                        {" ".join(memories)})
if(TARGET net_cpp)
  message("net_cpp is declared")
endif()
""")
    for name in ("net.py", "x.npz"):
        (tmp_path / name).touch()
    configured = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Unix Makefiles")
    assert ("net_cpp is declared" in configured) == (not memories)
    command = run("cmake", "--build", tmp_path / "build", "--target", "net_files", "--", "-n")
    given = re.findall(r"--memory (\S+)", command)
    assert [memory.strip("'\"") for memory in given] == list(memories)
    assert ("--emit cpp" in command) == (not memories)


@needs_arm
@pytest.mark.skipif("CMSIS_NN_DIR" not in os.environ, reason="CMSIS_NN_DIR is not set")
def test_kernels_of_cmsis_nn_build_and_are_installed(installed):
    prefix = installed.prefix
    text = (ROOT / "third_party/cmsis_nn/sources.cmake").read_text(encoding="utf-8")
    names = re.findall(r'"Source/\S+/(\w+\.c)"', text)
    assert len(names) > 20
    archive = prefix / "lib/libcmsis_nn_delegate_third_party_cmsis_nn.a"
    members = run("ar", "t", archive).split()
    assert sorted(members) == sorted(f"{name}.obj" for name in names)
    assert (prefix / "include/cmsis_nn_delegate/runtime/kernels/cmsis_nn/cmsis_nn.h").exists()


@needs_arm
@pytest.mark.parametrize("for_size", [False, True])
def test_what_kernels_are_compiled_for(for_size, tmp_path):
    options = [f"-DCMSIS_NN_DELEGATE_KERNELS_FOR_SIZE={for_size}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    configure(ROOT, tmp_path, "-DCORE=cortex_m4", "--toolchain", TOOLCHAIN, *options)
    # The last of several flags counts.
    flags = {
        entry["file"].removeprefix(f"{ROOT}/"): re.findall(r" (-O\S)", entry["command"])[-1]
        for entry in json.loads((tmp_path / "compile_commands.json").read_text())
    }
    # Those of CMSIS-NN only call it, and are small.
    ours = re.compile(r"runtime/kernels/(?!cmsis_nn/).*(?<!_cmsis_nn)\.cc")
    kernels = {path: flag for path, flag in flags.items() if ours.match(path)}
    assert len(kernels) > 40 and set(kernels.values()) == {"-Os" if for_size else "-O2"}
    assert flags["runtime/payload/view.cc"] == "-O2" and flags["runtime/backend/cmsis_nn_backend.cc"] == "-Os"


@needs_arm
def test_a_core_without_a_feature(tmp_path):
    configure(ROOT, tmp_path, "-DCORE=cortex_m33_nodsp", "--toolchain", TOOLCHAIN, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    commands = [entry["command"] for entry in json.loads((tmp_path / "compile_commands.json").read_text())]
    assert commands and all("-mcpu=cortex-m33+nodsp" in command for command in commands)


def test_cores_are_those_of_bazel(tmp_path):
    tables = json.loads((ROOT / "platforms/tables.json").read_text(encoding="utf-8"))
    assert len(tables["cores"]) >= 11
    for core in tables["cores"]:
        script = tmp_path / f"{core['name']}.cmake"
        script.write_text(f"""
include({ROOT}/platforms/cmake/table.cmake)
cmsis_nn_delegate_core({core["name"]})
foreach(variable CORE_CPU CORE_FLAGS CORE_ISA CORE_BOARD CORE_OTHER_FLAGS)
  message("${{variable}}=${{${{variable}}}}")
endforeach()
""")
        values = dict(re.findall(r"^(\w+)=(.*)$", run("cmake", "-P", script), re.MULTILINE))
        assert [values[f"CORE_{field}"] for field in ("CPU", "ISA", "BOARD")] == [
            core[field] for field in ("cpu", "isa", "board")
        ]
        assert values["CORE_FLAGS"].split(";") == core["flags"]
        assert values["CORE_OTHER_FLAGS"] == ";".join(core["other_flags"])


@needs_arm
def test_flags_select_the_instruction_set_of_the_table():
    """Also those for a compiler that does not know the core, and those without some features. GCC says what it has."""
    gcc = shutil.which("arm-none-eabi-gcc", path=f"{os.environ.get('ARM_GNU_TOOLCHAIN', '')}/bin:{os.environ['PATH']}")
    tables = json.loads((ROOT / "platforms/tables.json").read_text(encoding="utf-8"))
    checked = 0
    for core in tables["cores"]:
        for flags in (core["flags"], core["other_flags"]):
            command = [gcc, "-mthumb", *flags, "-Werror", "-dM", "-E", "-xc", "/dev/null"]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if not flags or (core["other_flags"] and "unrecognized -mcpu" in result.stderr):
                continue
            assert result.returncode == 0, result.stderr
            has = {feature for feature in ("MVE", "DSP") if f"#define __ARM_FEATURE_{feature} " in result.stdout}
            assert ("mve" if "MVE" in has else "dsp" if "DSP" in has else "scalar") == core["isa"], (core["cpu"], flags)
            assert ("#define __ARM_FP " in result.stdout) == (
                "-mfloat-abi=hard" in flags and "+nofp" not in core["cpu"]
            ), (core["cpu"], flags)
            checked += 1
    assert checked >= len(tables["cores"])


# Within the memories of QEMU's mps2-an386, but at other addresses than in platforms/boards.bzl.
_BOARD = {
    "name": "mine",
    "core": "cortex-m4",
    "clock_hz": 10_000_000,
    "memories": {
        "FLASH": {"origin": 0, "size": 65536},
        "RAM": {"origin": "0x20100000", "size": 131072},
        "BUFFERS": {"origin": "0x21000000", "size": 65536},
    },
    "uart": {"type": "mine", "address": "0x40004000", "header": "uart_mine.h"},
    "simulators": {"qemu": {"machine": "mps2-an386"}},
}
_PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(own LANGUAGES C CXX)
include(${ROOT}/platforms/cmake/firmware.cmake)
add_executable(firmware main.c)
cmsis_nn_delegate_firmware(firmware)
"""
_MAIN = r"""
#include "platforms/bsp/bsp.h"
static int stays;
int main(void) {
  if ((uintptr_t)&stays - 0x20100000u < 131072u) {
    bsp_write("in its RAM\n", 11);
  }
  return 0;
}
"""


def configure_own(folder, board="mine.json", target="cortex_m4", **fields):
    """A project for a core, with its own board, of which `fields` are changed, or with one of platforms/boards."""
    driver = (ROOT / "platforms/bsp/uart_cmsdk.h").read_text(encoding="utf-8")
    for name, text in {
        "CMakeLists.txt": _PROJECT,
        "main.c": _MAIN,
        "mine.json": json.dumps({**_BOARD, **fields}),
        "uart_mine.h": driver,
    }.items():
        (folder / name).write_text(text)
    options = [f"-DROOT={ROOT}", f"-DCORE={target}", "--toolchain", TOOLCHAIN, "-DCMAKE_BUILD_TYPE=MinSizeRel"]
    configure(folder, folder / "build", *options, f"-DCMSIS_NN_DELEGATE_BOARD={board}")


@needs_arm
def test_an_image_for_a_board_of_the_users(tmp_path):
    configure_own(tmp_path)
    assert "in its RAM" in build(tmp_path / "build", "--target", "firmware_run", timeout=60)
    image = tmp_path / "build/firmware.elf"
    elf = Elf(image)
    assert (elf.address("__data_start"), elf.address("__stack_top")) == (0x20100000, 0x20120000)
    # The drivers find the description beside the image.
    result = simulator.run(image)
    assert (result.status, result.exit_code, result.ticks_to_instructions) == ("exit", 0, 100.0), result.explain()
    assert "in its RAM" in result.uart


@needs_arm
def test_an_image_for_a_board_of_platforms_boards(tmp_path):
    configure_own(tmp_path, board="stm32f4_discovery")
    build(tmp_path / "build", "--target", "firmware_run", timeout=60)
    elf = Elf(tmp_path / "build/firmware.elf")
    assert (elf.address("__text_start"), elf.address("__stack_top")) == (0x08000000, 0x20020000)
    assert elf.address("bsp_reset") != elf.address("Reset_Handler")


@needs_arm
def test_an_image_for_an_rp2040_has_its_checksum_before_it_is_converted(tmp_path):
    configure_own(tmp_path, board="rpi_pico", target="cortex_m0plus")
    build(tmp_path / "build")
    start = (tmp_path / "build/firmware.bin").read_bytes()[:256]
    assert any(start[:252]) and int.from_bytes(start[252:], "little") == boot2_checksum(start[:252])


@needs_arm
def test_a_board_that_nothing_simulates_is_linked_and_not_run(tmp_path):
    configure_own(tmp_path, simulators={})
    build(tmp_path / "build")
    assert "firmware_run" not in run("cmake", "--build", tmp_path / "build", "--target", "help")
    with pytest.raises(simulator.SimulatorError, match="the board mine is not simulated by QEMU, nor by any other"):
        simulator.run(tmp_path / "build/firmware.elf")


@needs_arm
def test_a_board_that_cannot_be_used_is_refused(tmp_path):
    memories = {"FLASH": _BOARD["memories"]["FLASH"]}
    with pytest.raises(AssertionError, match="(?s)board mine.*RAM is missing; an image needs FLASH and RAM"):
        configure_own(tmp_path, memories=memories)
    with pytest.raises(AssertionError, match=r"has a cortex-m3,\s+which\s+does\s+not\s+run\s+images\s+for\s+cortex-m4"):
        configure_own(tmp_path, core="cortex-m3")


@needs_arm
def test_an_unknown_core_is_told_with_the_known_ones(tmp_path):
    result = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "--toolchain", TOOLCHAIN, "-DCORE=cortex_m99"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    message = " ".join(result.stderr.split())
    assert "unknown CORE=cortex_m99" in message and "cortex_m0plus" in message and "cortex_m85" in message


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
  # Not the kernels, which the host's tests compile too.
  target_link_libraries(program cmsis_nn_delegate::backend)
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
    headers = run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    headers += "/executorch/include"
    configure(tree, tmp_path / "off", f"-DHEADERS={headers}")
    assert "cmsis_nn_delegate" not in run("cmake", "--build", tmp_path / "off", "--target", "help")
    configure(tree, tmp_path / "on", f"-DHEADERS={headers}", "-DEXECUTORCH_BUILD_CMSIS_NN=ON")
    build(tmp_path / "on", "--target", "program")
