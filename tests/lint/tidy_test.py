"""clang-tidy finds nothing in the C and C++ of runtime, platforms and tests: //:lint.

.clang-tidy at the root configures checks and names. Files that need the sources of CMSIS-NN or ExecuTorch are checked
where CMSIS_NN_DIR, EXECUTORCH_DIR and FLATBUFFERS_DIR name these. Tests with
GoogleTest are left out, because its headers take longer than all others together. Check them by hand after a change:
`CLANG_TIDY_ALL=1 ./bazelw test //tests/lint:tidy_test --test_env=CLANG_TIDY_ALL`.

clang-tidy looks at every header again with every source that includes it, which takes most of its time. So sources are
checked joined, several hundred as one.
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

# They define what another source defines too, or a function of the C library, whose header another includes.
ALONE = (
    "runtime/backend/register_host.cc",
    "runtime/kernels/log_mel/log_mel_int16_portable.cc",
    "runtime/kernels/log_mel/log_mel_portable.cc",
    "runtime/kernels/selected_",
    "runtime/runner/executorch/format.cc",
    "runtime/runner/executorch/platform.cc",
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


def local_names(text: str) -> set[str]:
    """Returns what the unnamed namespaces of a source declare, not within a class or function."""
    kinds = (
        r"using (\w+) =",
        r"(?:struct|class|enum class|enum) (\w+)",
        r"(?:[\w:<>*&,]+ )+[*&]?(\w+)(?:\(|\[.*\]|\{| =|;)",
    )
    unnamed = re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL)
    return {name for inner in unnamed for kind in kinds for name in re.findall(f"^{kind}", inner, re.MULTILINE)}


def joined(paths: list[Path]) -> tuple[str, list[str]]:
    """Returns one source with the text of all, and "PATH:LINE" of each of its lines.

    What the unnamed namespaces declare gets a number, because the sources use the same names there. Headers are
    included where they are named first, and again where a source names one twice.
    """
    lines, origins, included = [], [], set()
    for number, path in enumerate(paths):
        text = path.read_text(encoding="utf-8")
        for name in local_names(text):
            pattern = rf"^(#.*)|(?<!::)(?<!\.)(?<!->)\b{name}\b"
            text = re.sub(pattern, lambda found, name=f"{name}{number}": found[1] or name, text, flags=re.MULTILINE)
        own = text.splitlines()
        lines += ["" if line in included and line not in own[:i] else line for i, line in enumerate(own)]
        origins += [f"{path}:{line}" for line in range(1, len(own) + 1)]
        included.update(line for line in own if line.startswith("#include"))
    return "\n".join(lines) + "\n", origins


def check_joined(paths: list[Path], flags: list[str], folder: Path) -> None:
    """As check(), for all `paths` as one source, which is written to `folder`."""
    text, origins = joined(paths)
    source = folder / "joined.cc"
    source.write_text(text, encoding="utf-8")
    found = findings(source, flags)
    assert not found, re.sub(rf"{re.escape(str(source))}:(\d+)", lambda line: origins[int(line[1]) - 1], found)


def host_sources() -> list[Path]:
    return sources(".cc", "", leave_out=CMSIS_NN + EXECUTORCH + SELFTEST + NETWORKS + ZEPHYR)


def is_alone(path: Path) -> bool:
    """Returns whether a source is not joined with others."""
    text = path.read_text(encoding="utf-8")
    program = re.search(r"^(?:extern \"C\" )?int (?:main|LLVMFuzzer\w+)\(", text, re.MULTILINE)
    return bool(program) or "<gtest/gtest.h>" in text or path.relative_to(ROOT).as_posix().startswith(ALONE)


@pytest.mark.parametrize("within", ["runtime/kernels", "runtime", "tests"])
def test_host_has_no_findings(within, tmp_path):
    paths = [
        path
        for path in host_sources()
        if not is_alone(path) and path.relative_to(ROOT).as_posix().startswith(f"{within}/")
        if within == "runtime/kernels" or ROOT / "runtime/kernels" not in path.parents
    ]
    assert len(paths) >= 10
    check_joined(paths, host_flags(), tmp_path)


def test_what_is_not_joined_has_no_findings():
    paths = [path for path in host_sources() if is_alone(path) or ROOT / "platforms" in path.parents]
    assert len(paths) >= 10
    check(paths, host_flags())


@pytest.mark.parametrize("uart", ["cmsdk", "kinetis", "nrf51", "ns16550", "pl011", "ra_sci_b", "stm32", "stm32_isr"])
def test_board_support_has_no_findings(uart):
    paths = sources(".c", "")
    with_driver = [path for path in paths if "BSP_UART_HEADER" in path.read_text(encoding="utf-8")]
    assert len(with_driver) >= 2 and len(paths) >= 7
    check(paths if uart == "cmsdk" else with_driver, board_flags(uart))


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_self_test_has_no_findings(cpu):
    paths = sources(".cc", *SELFTEST)
    assert paths
    check(paths, board_flags(cpu=cpu) + device_cpp_flags())


def test_kernels_of_cmsis_nn_have_no_findings(tmp_path):
    flags = [*host_flags(), f"-isystem{environment_dir('CMSIS_NN_DIR')}/Include"]
    paths = sources(".cc", *CMSIS_NN)
    assert len(paths) >= 10
    alone = [path for path in paths if is_alone(path)]
    check_joined([path for path in paths if path not in alone], flags, tmp_path)
    check(alone, flags)


@pytest.mark.parametrize("option", [[], ["-DET_EVENT_TRACER_ENABLED"]], ids=["plain", "profile"])
def test_runner_of_executorch_has_no_findings(option, tmp_path):
    executorch, flatbuffers = environment_dir("EXECUTORCH_DIR"), environment_dir("FLATBUFFERS_DIR")
    schema = tmp_path / "executorch/schema"
    flatc = [tool("flatc"), "--cpp", "--scoped-enums", "-o", str(schema)]
    subprocess.run([*flatc, *map(str, (executorch / "schema").glob("*.fbs"))], check=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/executorch").symlink_to(executorch)
    headers = [f"-isystem{tmp_path}", f"-isystem{tmp_path}/tree", f"-isystem{flatbuffers}/include"]
    flags = [*headers, *host_flags(), *option]
    main = ROOT / "runtime/runner/executorch/main.cc"  # only this looks at the option
    check([main], flags)
    if not option:
        check_joined([path for path in sources(".cc", *EXECUTORCH) if path != main], flags, tmp_path)


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


def test_a_finding_in_a_joined_source_is_shown_at_its_place(tmp_path):
    """Though others have the same names; and two includes of a header in one source are a finding."""
    good = "#include <cstdint>\n\nnamespace {\nusing Args = int;\n}  // namespace\n\nArgs one() { return 1; }\n"
    wrong = good.replace("one", "two").replace("1", "Args::none")
    twice = "#include <cstdint>\n#include <cstdint>\n"
    for name, text in (("good.cc", good), ("wrong.cc", wrong), ("twice.cc", twice)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    check_joined([tmp_path / "good.cc"], ["-std=c++17"], tmp_path)
    for name, line in (("wrong.cc", 7), ("twice.cc", 2)):
        with pytest.raises(AssertionError, match=re.escape(f"{tmp_path}/{name}:{line}:")):
            check_joined([tmp_path / "good.cc", tmp_path / name], ["-std=c++17"], tmp_path)
