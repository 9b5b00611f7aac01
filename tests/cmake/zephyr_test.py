"""Tests the Zephyr module in a stand-in for Zephyr's build; this shows nothing about Zephyr itself."""

import json
import re

import pytest

from tests.cmake.building import ROOT, TOOLCHAIN, build, configure, needs_arm, needs_cmake, write_model

pytestmark = [needs_cmake, needs_arm]

_STANDIN = ROOT / "tests/cmake/zephyr_standin"


def _module() -> dict[str, str]:
    """Returns the entries of module.yml that name files, relative to the root of the module."""
    text = (ROOT / "zephyr/module.yml").read_text(encoding="utf-8")
    return dict(re.findall(r"^  (cmake|kconfig): (\S+)$", text, re.MULTILINE))


def _options(tmp_path, enabled: bool) -> list[str]:
    return [
        "-DCORE=cortex_m55",
        "--toolchain",
        str(TOOLCHAIN),
        "-DCMAKE_BUILD_TYPE=MinSizeRel",
        f"-DMODULE_ROOT={ROOT}",
        f"-DMODULE_CMAKE={ROOT / _module()['cmake']}",
        f"-DMODEL_DIR={tmp_path}/model",
        f"-DAPPLICATION_SOURCES={ROOT}/examples/cmake_firmware/main.cc;{tmp_path}/model/net.c",
        f"-DCONFIG_CMSIS_NN_DELEGATE={'y' if enabled else ''}",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    ]


def test_files_of_the_module_exist():
    assert sorted(_module()) == ["cmake", "kconfig"]
    assert (ROOT / _module()["cmake"] / "CMakeLists.txt").is_file()
    kconfig = (ROOT / _module()["kconfig"]).read_text(encoding="utf-8")
    assert "config CMSIS_NN_DELEGATE\n" in kconfig


def test_an_application_computes_what_the_reference_does(tmp_path):
    expected = write_model("cortex_m55", tmp_path / "model")
    configure(_STANDIN, tmp_path / "build", *_options(tmp_path, True))
    build(tmp_path / "build")
    assert expected in build(tmp_path / "build", "--target", "firmware_run", timeout=300).splitlines()
    # The stand-in's flags were used.
    commands = json.loads((tmp_path / "build/compile_commands.json").read_text(encoding="utf-8"))
    ours = [c for c in commands if re.search(r"/runtime/(backend|kernels|payload|standalone)/", c["file"])]
    assert len(ours) > 10
    assert all("-DZEPHYR_STANDIN=1" in c["command"] for c in ours)


def test_nothing_is_built_unless_it_is_enabled(tmp_path):
    write_model("cortex_m55", tmp_path / "model")
    with pytest.raises(AssertionError, match="cmsis_nn_delegate::model"):
        configure(_STANDIN, tmp_path / "build", *_options(tmp_path, False))
