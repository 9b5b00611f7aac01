"""clang-tidy finds nothing in the C and C++ of runtime, platforms and tests: //:lint.

.clang-tidy at the root configures checks and names. Files that need the sources of CMSIS-NN or ExecuTorch are checked
where CMSIS_NN_DIR, EXECUTORCH_DIR and FLATBUFFERS_DIR name these. Tests with
GoogleTest are left out, because its headers take longer than all others together. Check them by hand after a change:
`CLANG_TIDY_ALL=1 ./bazelw test //tests/lint:tidy_test --test_env=CLANG_TIDY_ALL`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = Path.cwd()  # with the headers that tests/lint/BUILD names as data
GOOGLETEST = Path("/usr/src/googletest/googletest/include")
ALL = "CLANG_TIDY_ALL" in os.environ

# Checked with different flags, below.
CMSIS_NN = (
    "runtime/kernels/cmsis_nn",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "runtime/kernels").glob("*/*_cmsis_nn.cc"))),
    "tests/conformance/geometry_test.cc",
)
EXECUTORCH = tuple(f"runtime/runner/executorch/{name}.cc" for name in ("delegate_payloads", "main", "missing_kernels"))
SELFTEST = ("platforms/bsp/selftest",)

# They include what is written for each network.
NETWORKS = (
    "tests/boards/main.cc",
    "tests/extension/words/run_net.cc",
    "tests/extension/words/words_test.cc",
    "tests/forms/cpp_main.cc",
    "tests/forms/payload_main.cc",
)

# It includes headers under Zephyr's names, which only the build of the sample finds.
ZEPHYR = ("tests/cmake/zephyr_standin",)


def sources(suffix: str, *within: str, leave_out: tuple[str, ...] = ()) -> list[Path]:
    """Returns the files whose paths in the source tree start with one of `within`, sorted by size, so that the last
    ones to be started are short."""
    found = []
    for folder in ("platforms/boards", "platforms/bsp", "runtime", "tests"):
        for path in (ROOT / folder).rglob("*" + suffix):
            name = path.relative_to(ROOT).as_posix()
            googletest = suffix == ".cc" and "<gtest/gtest.h>" in path.read_text(encoding="utf-8")
            if name.startswith(within) and not name.startswith(leave_out) and (ALL or not googletest):
                found.append(path)
    return sorted(found, key=lambda path: -path.stat().st_size)


def environment_dir(name: str) -> Path:
    """Returns the folder that a variable names; skips the test if it is not set."""
    if name not in os.environ:
        pytest.skip(f"{name} is not set")
    return Path(os.environ[name])


def host_flags() -> list[str]:
    executorch = Path(importlib.util.find_spec("executorch").submodule_search_locations[0]) / "include"
    return [
        "-std=c++17",
        f"-I{ROOT}",
        f"-I{GENERATED}",
        f"-isystem{executorch}",
        f"-isystem{executorch}/executorch/runtime/core/portable_type/c10",
        f"-isystem{GOOGLETEST}",
        "-DC10_USING_CUSTOM_GENERATED_MACROS",
        "-DET_LOG_ENABLED=1",
        "-DET_MIN_LOG_LEVEL=Error",
    ]


def board_flags(uart: str = "cmsdk", cpu: str = "cortex-m4") -> list[str]:
    return [
        "--target=arm-none-eabi",
        f"-mcpu={cpu}",
        "-mthumb",
        "-ffreestanding",
        f"-I{ROOT}",
        '-DBSP_BOARD=""',
        '-DBSP_CORE=""',
        '-DBSP_ISA=""',
        "-DBSP_CLOCK_HZ=25000000u",
        "-DBSP_UART_BASE=0x40004000u",
        f'-DBSP_UART_HEADER="platforms/bsp/uart_{uart}.h"',
    ]


def device_cpp_flags() -> list[str]:
    """Returns the flags for the C++ library of the device's compiler, which clang-tidy does not find by itself."""
    gcc = shutil.which("arm-none-eabi-g++", path=os.environ.get("ARM_GNU_TOOLCHAIN", "") + "/bin:" + os.environ["PATH"])
    if gcc is None:
        pytest.skip("arm-none-eabi-g++ is not on PATH")
    command = [gcc, "-mcpu=cortex-m4", "-mthumb", "-x", "c++", "-E", "-v", os.devnull]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    folders = re.findall(r"^ (/.*)$", said.partition("#include <...>")[2], re.MULTILINE)
    # The built-in headers must be clang's.
    return ["-std=c++17"] + [f"-isystem{folder}" for folder in folders if "/lib/gcc/" not in os.path.normpath(folder)]


def tool(name: str) -> str:
    """Returns the path of the program with this name in the Python environment that runs this."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        pytest.skip(f"{name} is not in the Python environment: install third_party/python/requirements.lock")
    return str(path)


def findings(path: Path, flags: list[str]) -> str:
    """Returns clang-tidy's findings in a source; "" if there are none."""
    command = [
        tool("clang-tidy"),
        "--quiet",
        "--warnings-as-errors=*",
        f"--config-file={ROOT}/.clang-tidy",
        str(path),
        "--",
    ]
    result = subprocess.run([*command, *flags], capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def check(paths: list[Path], flags: list[str]) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(lambda path: findings(path, flags), paths) if text]
    assert not found, "\n".join(found)


# In parts, which Bazel runs in several shards.
@pytest.mark.parametrize("part", range(4))
def test_host_has_no_findings(part):
    paths = sources(".cc", "", leave_out=CMSIS_NN + EXECUTORCH + SELFTEST + NETWORKS + ZEPHYR)
    assert len(paths) >= 40
    check(paths[part::4], host_flags())


@pytest.mark.parametrize("uart", ["cmsdk", "kinetis", "nrf51", "ns16550", "pl011", "ra_sci_b", "stm32", "stm32_isr"])
def test_board_support_has_no_findings(uart):
    paths = sources(".c", "")
    assert len(paths) >= 7
    check(paths, board_flags(uart))


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_self_test_has_no_findings(cpu):
    paths = sources(".cc", *SELFTEST)
    assert paths
    check(paths, board_flags(cpu=cpu) + device_cpp_flags())


def test_kernels_of_cmsis_nn_have_no_findings():
    cmsis_nn = environment_dir("CMSIS_NN_DIR")
    paths = sources(".cc", *CMSIS_NN)
    assert len(paths) >= 10
    check(paths, [*host_flags(), f"-isystem{cmsis_nn}/Include"])


@pytest.mark.parametrize("option", [[], ["-DET_EVENT_TRACER_ENABLED"]], ids=["plain", "profile"])
def test_runner_of_executorch_has_no_findings(option, tmp_path):
    executorch, flatbuffers = environment_dir("EXECUTORCH_DIR"), environment_dir("FLATBUFFERS_DIR")
    schema = tmp_path / "executorch/schema"
    flatc = [tool("flatc"), "--cpp", "--scoped-enums", "-o", str(schema)]
    subprocess.run([*flatc, *map(str, (executorch / "schema").glob("*.fbs"))], check=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/executorch").symlink_to(executorch)
    headers = [f"-isystem{tmp_path}", f"-isystem{tmp_path}/tree", f"-isystem{flatbuffers}/include"]
    check(sources(".cc", *EXECUTORCH), [*headers, *host_flags(), *option])


@pytest.mark.parametrize(
    "text",
    [
        "int CamelCase() { return 0; }\n",
        "class Box {\n public:\n  int get() const { return value; }\n\n private:\n  int value = 0;\n};\n",
        "constexpr int limit = 1;\n",
        "bool wrong(int a) { return a == 1 || a == 1; }\n",
    ],
)
def test_a_finding_is_seen(text, tmp_path):
    source = tmp_path / "a.cc"
    source.write_text(text, encoding="utf-8")
    assert findings(source, ["-std=c++17"])
