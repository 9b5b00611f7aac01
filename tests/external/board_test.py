"""Tests a user's own boards, in a workspace with this repository as an external one."""

import json
import re

import pytest

from sim import simulator
from sim.elf import Elf
from tests.external.inner_bazel import ROOT, InnerBazel, absent, copy_of_example

_MAIN = """
#include "platforms/bsp/bsp.h"

static int stays;

int main(void) {
  if ((uintptr_t)&stays - 0x20100000u < 131072u) {
    bsp_write("in its RAM\\n", 11);
  }
  return 0;
}
"""

_BUILD = """
load("@cmsis_nn_delegate//platforms:board.bzl", "board", "memory", "uart")
load("@cmsis_nn_delegate//platforms:firmware.bzl", "firmware")
load("@cmsis_nn_delegate//sim:simulator_test.bzl", "simulator_test")
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

# Within the memories of QEMU's mps2-an386, at other addresses than in platforms/boards.bzl. Has its own UART driver.
board(
    name = "mine",
    clock_hz = 10000000,
    core = "cortex-m4",
    memories = {
        "BUFFERS": memory(0x21000000, 65536),
        "FLASH": memory(0x00000000, 65536),
        "RAM": memory(0x20100000, 131072),
    },
    simulators = {"qemu": {"machine": "mps2-an386"}},
    uart = uart("mine", 0x40004000, header = "uart_mine.h"),
)

# No simulator runs this board.
board(
    name = "product",
    clock_hz = 64000000,
    core = "cortex-m4",
    memories = {
        "FLASH": memory(0x08000000, 524288, wait_states = 3),
        "RAM": memory(0x20000000, 131072),
    },
    uart = uart("cmsdk", 0xF0004000),
)

cc_library(
    name = "main",
    srcs = ["main.c"],
    target_compatible_with = ["@platforms//os:none"],
    deps = ["@cmsis_nn_delegate//platforms/bsp"],
)

firmware(
    name = "image",
    boards = {
        ":mine": "cortex_m4",
        ":product": "cortex_m4",
        "@cmsis_nn_delegate//platforms/boards/stm32f4_discovery": "cortex_m4",
    },
    cores = [],
    deps = [":main"],
)

simulator_test(
    name = "mine_test",
    expect = ["in its RAM"],
    firmware = ":image_mine",
)
"""

_BAD = """
load("@cmsis_nn_delegate//platforms:board.bzl", "board", "memory", "uart")
load("@cmsis_nn_delegate//platforms:firmware.bzl", "firmware")

[board(
    name = name,
    clock_hz = 1000000,
    core = "cortex-m5" if name == "core" else "cortex-m4",
    memories = {
        memory: span
        for memory, span in {
            "FLASH": memory(0, 65536),
            "RAM": memory(1024 if name == "overlap" else 0x20000000, 65536),
        }.items()
        if memory + name != "RAMmissing"
    },
    simulators = {"gem5": {}} if name == "simulator" else {},
    uart = uart("cmsdk", 0x40004000),
) for name in ["core", "missing", "overlap", "simulator"]]

firmware(
    name = "image",
    boards = {"//:mine": "cortex_m55"},
    cores = [],
    deps = ["//:main"],
)
"""
_SAID = [
    "core: 'cortex-m5' is unknown; choose one of cortex-m0plus",
    "memories: RAM is missing; an image needs FLASH and RAM",
    "memories: FLASH and RAM overlap from 0x00000400 on; change an origin or a size",
    "simulators: 'gem5' is unknown; choose from qemu, ",
    "board mine has a cortex-m4, which does not run images for cortex-m55",
]


@pytest.fixture
def workspace(tmp_path):
    folder = copy_of_example(tmp_path / "firmware", "WORKSPACE", "WORKSPACE.bzlmod", "MODULE.bazel", ".bazelrc")
    (folder / "bad").mkdir()
    for name, text in {
        "BUILD": _BUILD,
        "bad/BUILD": _BAD,
        "main.c": _MAIN,
        "uart_mine.h": (ROOT / "platforms/bsp/uart_cmsdk.h").read_text(encoding="utf-8"),
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.skipif(bool(absent()), reason=absent() or "present")
def test_boards_of_a_user(workspace, tmp_path):
    with InnerBazel(workspace, tmp_path) as bazel:
        code, output = bazel.run(
            "test", "--test_output=all", "//:mine_test", "//:image_product", "//:image_stm32f4_discovery"
        )
        assert code == 0, output
        assert re.search("//:mine_test +PASSED", output)

        images = workspace / "bazel-bin"
        elf = Elf(images / "image_mine.elf")
        spans = [elf.address(name) for name in ("__text_start", "__data_start", "__stack_top")]
        assert spans == [0, 0x20100000, 0x20120000]
        elf = Elf(images / "image_product.elf")
        spans = [elf.address(name) for name in ("__text_start", "__data_start", "__stack_top")]
        assert spans == [0x08000000, 0x20000000, 0x20020000]

        elf = Elf(images / "image_stm32f4_discovery.elf")
        spans = [elf.address(name) for name in ("__text_start", "__data_start", "__stack_top")]
        assert spans == [0x08000000, 0x20000000, 0x20020000]
        assert elf.address("bsp_reset") != elf.address("Reset_Handler")

        described = json.loads((images / "image_product.board.json").read_text())
        assert described["memories"]["FLASH"]["wait_states"] == 3
        with pytest.raises(simulator.SimulatorError, match="the board product is not simulated by QEMU, nor by any"):
            simulator.run(images / "image_product.elf")

        code, output = bazel.run("build", "--keep_going", "//bad:all")
        assert code != 0
        assert [text for text in _SAID if text not in output] == []
