"""Tests the Zephyr module in a stand-in for Zephyr's build; this shows nothing about Zephyr itself."""

import json
import os
import re

import pytest
import yaml

from cmsis_nn_delegate.format.schema import CMSIS_NN_COMMIT
from tests.cmake.building import (
    ROOT,
    TOOLCHAIN,
    build,
    configure,
    expected_line,
    list_kernels,
    needs_arm,
    needs_cmake,
    only_kernels,
    run,
)

pytestmark = [needs_cmake, needs_arm]

_STANDIN = ROOT / "tests/cmake/zephyr_standin"
_SAMPLE = ROOT / "zephyr/samples/infer"


def _module() -> dict[str, str]:
    """Returns the entries of module.yml that name files, relative to the root of the module."""
    text = (ROOT / "zephyr/module.yml").read_text(encoding="utf-8")
    return dict(re.findall(r"^  (cmake|kconfig): (\S+)$", text, re.MULTILINE))


def _options(*kconfig: str) -> list[str]:
    return [
        "-DCORE=cortex_m55",
        "--toolchain",
        str(TOOLCHAIN),
        "-DCMAKE_BUILD_TYPE=MinSizeRel",
        f"-DZephyr_DIR={_STANDIN}",
        f"-DMODULE_ROOT={ROOT}",
        f"-DMODULE_CMAKE={ROOT / _module()['cmake']}",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        *(f"-DCONFIG_{name}=y" for name in kconfig),
    ]


def test_files_of_the_module_exist():
    assert sorted(_module()) == ["cmake", "kconfig"]
    assert (ROOT / _module()["cmake"] / "CMakeLists.txt").is_file()
    kconfig = (ROOT / _module()["kconfig"]).read_text(encoding="utf-8")
    assert "config CMSIS_NN_DELEGATE\n" in kconfig


def test_the_sample_computes_what_the_reference_does(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "aot"))  # CMake compiles the model with the package in the source tree
    configure(_SAMPLE, tmp_path, *_options("CMSIS_NN_DELEGATE", "CPU_CORTEX_M55"), *only_kernels(tmp_path))
    build(tmp_path, "--target", "net_files")
    list_kernels((tmp_path / "net/net.payload.bin").read_bytes(), tmp_path)
    build(tmp_path)
    printed = build(tmp_path, "--target", "firmware_run", timeout=300)
    assert f"scores {expected_line(tmp_path / 'net')}" in printed.splitlines()
    assert json.loads((tmp_path / "net/net.report.json").read_text())["target"] == "cortex-m55"
    # The stand-in's flags were used.
    commands = json.loads((tmp_path / "compile_commands.json").read_text(encoding="utf-8"))
    ours = [c for c in commands if re.search(r"/runtime/(backend|kernels|payload|standalone)/", c["file"])]
    assert len(ours) > 10
    assert all("-DZEPHYR_STANDIN=1" in c["command"] for c in ours)


@pytest.mark.parametrize(
    "option, target",
    [
        ("-DGCC_M_CPU=cortex-m55+nomve.fp", "cortex-m55+nomve.fp"),  # as Zephyr's gcc-m-cpu.cmake has it
        ("-DCONFIG_CPU_CORTEX_M52=y", "cortex-m52"),
    ],
)
def test_models_are_compiled_for_what_the_chip_has(tmp_path, option, target):
    """A payload for DSP instructions would be refused on a chip without them."""
    configure(_SAMPLE, tmp_path, *_options("CMSIS_NN_DELEGATE"), option)
    cache = (tmp_path / "CMakeCache.txt").read_text(encoding="utf-8")
    assert re.findall("^CMSIS_NN_DELEGATE_TARGET:INTERNAL=(.*)$", cache, re.MULTILINE) == [target]


def test_nothing_is_built_unless_it_is_enabled(tmp_path):
    with pytest.raises(AssertionError, match="cmsis_nn_delegate_model"):
        configure(_SAMPLE, tmp_path, *_options("CPU_CORTEX_M55"))


def test_another_revision_of_the_workspace_s_cmsis_nn_is_refused(tmp_path):
    module = tmp_path / "cmsis-nn"
    (module / "Include").mkdir(parents=True)
    (module / "Include/arm_nnfunctions.h").write_text("")
    git = ["git", "-C", module, "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "another revision"]):
        run(*git, *command)
    head = run(*git, "rev-parse", "HEAD").strip()
    options = _options("CMSIS_NN_DELEGATE", "CMSIS_NN_DELEGATE_CMSIS_NN", "CPU_CORTEX_M55")
    environment = {name: value for name, value in os.environ.items() if name != "CMSIS_NN_DIR"}
    with pytest.raises(AssertionError, match=rf"is at\s+{head},\s+but\s+{CMSIS_NN_COMMIT}\s+is\s+needed"):
        configure(_SAMPLE, tmp_path / "build", *options, f"-DZEPHYR_CMSIS_NN_MODULE_DIR={module}", env=environment)
    with pytest.raises(AssertionError, match="this workspace has no module\\s+cmsis-nn"):
        configure(_SAMPLE, tmp_path / "none", *options, env=environment)


def test_the_sample_lists_boards_that_it_has_overlays_for():
    sample = yaml.safe_load((_SAMPLE / "sample.yaml").read_text())
    (test,) = sample["tests"].values()
    overlays = {path.stem for path in (_SAMPLE / "boards").glob("*.overlay")}
    assert {board.replace("/", "_") for board in test["platform_allow"]} == overlays
    assert set(test["integration_platforms"]) <= set(test["platform_allow"])
    (regex,) = sample["common"]["harness_config"]["regex"]
    assert re.fullmatch(regex, "scores " + bytes(range(10)).hex())
    # What `zephyr/module.yml` tells twister.
    assert yaml.safe_load((ROOT / "zephyr/module.yml").read_text())["samples"] == ["zephyr/samples"]
