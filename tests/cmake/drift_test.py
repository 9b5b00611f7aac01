"""CMake's lists are Bazel's: targets, files, dependencies, compiler flags."""

import ast
import re

import pytest

from tests.cmake import source_tree
from tests.cmake.source_tree import ROOT

# Of arm_gcc_config.bzl, and not of the toolchain file: for builds that are the same bytes anywhere.
_REPRODUCIBLE = re.compile(
    r"-ffile-prefix-map=.*|-no-canonical-prefixes|-fno-canonical-system-headers"
    r"|-Wno-builtin-macro-redefined|-D__(DATE|TIME|TIMESTAMP)__=.*"
)


@pytest.mark.parametrize("folder", source_tree.MIRRORED)
def test_both_builds_have_the_same_targets(folder):
    bazel = source_tree.bazel_targets(folder)
    assert bazel
    assert source_tree.cmake_targets(folder) == bazel


def test_every_folder_with_delegate_sources_is_mirrored():
    mirrored = {str(path.parent.relative_to(ROOT)) for path in (ROOT / "runtime").rglob("CMakeLists.txt")}
    assert mirrored - {"runtime", "runtime/kernels"} == set(source_tree.MIRRORED)  # those have folders only
    # The runner is a program for simulations.
    folders = {str(path.parent.relative_to(ROOT)) for path in (ROOT / "runtime").rglob("*.cc")}
    assert {f for f in folders if not f.startswith("runtime/runner")} <= set(source_tree.MIRRORED)


def test_a_file_that_one_build_lacks_is_noticed():
    folder = "runtime/payload"
    text = (ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8")
    for line in ("    bounds.cc\n", "    -O2 # Runs", "    crc32\n"):
        assert line in text
        assert source_tree.parse_cmake(text.replace(line, "", 1), folder) != source_tree.bazel_targets(folder)


def test_files_that_exist():
    for folder in source_tree.MIRRORED:
        for target in source_tree.cmake_targets(folder).values():
            for file in target.files - {f"{folder}/{name}" for name in source_tree.GENERATED.values()}:
                assert (ROOT / file).is_file(), file


def _bazel_flags() -> dict[str, list[str]]:
    """The unconditional _flags(actions, [...]) of arm_gcc_config.bzl, by the text of the actions."""
    module = ast.parse((ROOT / "platforms/arm_gcc/arm_gcc_config.bzl").read_text(encoding="utf-8"))
    return {
        ast.unparse(node.args[0]): [element.value for element in node.args[1].elts]
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "_flags"
        and len(node.args) == 2
        and isinstance(node.args[1], ast.List)
    }


def _toolchain_flags(variable: str) -> list[str]:
    text = (ROOT / "platforms/cmake/arm-none-eabi.cmake").read_text(encoding="utf-8")
    (body,) = re.findall(rf"^set\({variable}\n([^)]*)\)", text, re.MULTILINE)
    return body.split()


def test_the_toolchain_file_has_the_flags_of_the_toolchain():
    bazel = _bazel_flags()
    common = [f for f in bazel["_ASM + _C + _CXX"] if not _REPRODUCIBLE.fullmatch(f)]
    assert common and _toolchain_flags("_common") == common
    assert ["-std=c++17", *_toolchain_flags("_cxx")] == bazel["_CXX"]
    assert _toolchain_flags("_link") == bazel["_LINK"]


def test_board_support_has_the_same_sources():
    _, calls = source_tree.evaluate((ROOT / "platforms/bsp/BUILD").read_text(encoding="utf-8"))
    (bsp,) = [arguments for _, arguments in calls if arguments.get("name") == "bsp"]
    text = (ROOT / "platforms/cmake/firmware.cmake").read_text(encoding="utf-8")
    sources = re.findall(r"\$\{folder\}/(\w+\.c)$", text, re.MULTILINE)
    assert sources == [name for name in bsp["srcs"] if name.endswith(".c")]
    for option in bsp["copts"]:
        assert option in text
