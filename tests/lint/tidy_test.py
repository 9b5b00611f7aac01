"""clang-tidy finds nothing in the C++ that a host can compile: //:lint.

Checks and names are in .clang-tidy at the root. Left out are sources that need CMSIS-NN or ExecuTorch's sources,
inline assembly of Arm, and the tests with GoogleTest, whose headers take longer than all others together: look at
those by hand after a change, `CLANG_TIDY_ALL=1 ./bazelw test //tests/lint:tidy_test --test_env=CLANG_TIDY_ALL`.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = Path.cwd()  # with the headers that tests/lint/BUILD names as data
GOOGLETEST = Path("/usr/src/googletest/googletest/include")
LEFT_OUT = (
    "platforms/bsp/selftest",
    "runtime/kernels/cmsis_nn",
    "runtime/runner/executorch/main.cc",
    "runtime/runner/executorch/missing_kernels.cc",
    "tests/conformance/geometry_test.cc",
    "tests/conformance/rules_on_host.cc",
    "tests/executorch",
)
ALL = "CLANG_TIDY_ALL" in os.environ


def sources(suffix: str) -> list[Path]:
    """Sorted by size: the last ones to be started are short."""
    found = []
    for folder in ("platforms/bsp", "runtime", "tests"):
        for path in (ROOT / folder).rglob("*" + suffix):
            name = path.relative_to(ROOT).as_posix()
            googletest = suffix == ".cc" and "<gtest/gtest.h>" in path.read_text(encoding="utf-8")
            if not name.startswith(LEFT_OUT) and (ALL or not googletest):
                found.append(path)
    return sorted(found, key=lambda path: -path.stat().st_size)


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


def board_flags(uart: str = "cmsdk") -> list[str]:
    return [
        "--target=arm-none-eabi",
        "-mcpu=cortex-m4",
        "-mthumb",
        "-ffreestanding",
        f"-I{ROOT}",
        '-DBSP_BOARD=""',
        '-DBSP_CORE=""',
        '-DBSP_ISA=""',
        "-DBSP_UART_BASE=0x40004000u",
        f'-DBSP_UART_HEADER="platforms/bsp/uart_{uart}.h"',
    ]


def findings(path: Path, flags: list[str]) -> str:
    """What clang-tidy says of a source; "" if it is content."""
    tool = Path(sys.executable).parent / "clang-tidy"
    if not tool.exists():
        pytest.skip("clang-tidy is not in the Python environment: install third_party/python/requirements.lock")
    command = [str(tool), "--quiet", "--warnings-as-errors=*", f"--config-file={ROOT}/.clang-tidy", str(path), "--"]
    result = subprocess.run([*command, *flags], capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stdout + result.stderr


@pytest.mark.parametrize(
    "suffix, flags, least",
    [(".cc", host_flags, 40), (".c", board_flags, 7), (".c", lambda: board_flags("nrf51"), 7)],
    ids=["host", "cmsdk", "nrf51"],
)
def test_no_findings(suffix, flags, least):
    paths = sources(suffix)
    assert len(paths) >= least
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(lambda path: findings(path, flags()), paths) if text]
    assert not found, "\n".join(found)


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
