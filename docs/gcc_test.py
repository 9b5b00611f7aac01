"""guides/firmware_gcc.md and board.md as a reader goes through them: their commands and files, in an own folder.

What ST's project has is replaced by files of the same names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from code_blocks import ROOT, blocks, compile_cpp, tried, tutorial_file

from cmsis_nn_delegate import cli, reference
from cmsis_nn_delegate.emit import c_header, cpp_calls, cpp_sources
from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

PAGE = ROOT / "docs" / "guides" / "firmware_gcc.md"
BOARD = ROOT / "docs" / "guides" / "board.md"
CMSIS_NN = os.environ.get("CMSIS_NN_DIR", "")
CORES = {core["cpu"]: core for core in json.loads((ROOT / "platforms/tables.json").read_text())["cores"]}

needs_arm = pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not on PATH")
needs_cmsis_nn = pytest.mark.skipif(not CMSIS_NN, reason="CMSIS_NN_DIR is not set")

MODEL = """
import torch

def net():
    torch.manual_seed(0)
    convolutions = torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, groups=8), torch.nn.ReLU()
    rest = torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(8 * 4, 10), torch.nn.Softmax(-1)
    return torch.nn.Sequential(*convolutions, *rest), (torch.rand(1, 1, 8, 8),)
"""


# A vector table and what a start-up does, for the memories of ST's chip.
STARTUP = """
  .syntax unified
  .thumb
  .section .isr_vector, "a"
  .word _estack, Reset_Handler
  .text
  .global Reset_Handler
  .thumb_func
Reset_Handler:
  bl SystemInit
  bl main
  b .
"""
LINKER_SCRIPT = """
ENTRY(Reset_Handler)
_estack = 0x24080000;
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 2048K  RAM_D1 (xrw) : ORIGIN = 0x24000000, LENGTH = 512K }
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } >FLASH
  .text : { *(.text*) *(.rodata*) *(.ARM.ex*) } >FLASH
  .data : { *(.data*) } >RAM_D1 AT> FLASH
  .bss : { *(.bss*) *(COMMON) } >RAM_D1
  end = .;
}
"""


def block_with(text: str, page: Path = PAGE) -> str:
    (found,) = (block.text for block in blocks(page) if text in block.text and not block.language)
    return found


class Reader:
    """A folder with the files of the page, and a home with the checkouts that it names."""

    def __init__(self, folder: Path, page: Path = PAGE) -> None:
        self.folder = folder / "work"
        programs = folder / "bin"
        for path in (self.folder, programs):
            path.mkdir()
        (folder / "cmsis_nn_delegate").symlink_to(ROOT)
        if CMSIS_NN:
            (folder / "CMSIS-NN").symlink_to(CMSIS_NN)
        (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "python").chmod(0o755)
        self.environment = {**os.environ, "HOME": str(folder), "PATH": f"{programs}:{os.environ['PATH']}"}
        for block in tried(page, "cpp"):
            (self.folder / tutorial_file(block)).write_text(block.text)

    def run(self, text: str, succeeds: bool = True) -> str:
        """Returns what commands print below the exports of the page."""
        script = f"set -e\n{block_with('export CMSIS_NN_DIR')}\n{text}"
        command = ["sh", "-c", script]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert (done.returncode == 0) == succeeds, done.stdout
        return done.stdout

    def symbols(self, image: str) -> str:
        return self.run(f"arm-none-eabi-nm --demangle {image}")

    def flash(self, image: str) -> int:
        return int(self.run(f"arm-none-eabi-size {image}").splitlines()[1].split()[0])

    def write(self, name: str, payload: bytes) -> None:
        """Writes what `compile --emit cpp` writes for a payload."""
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        for suffix, text in {
            ".h": c_header.generate_header(name, payload),
            ".model.h": cpp_calls.generate_header(name, payload),
            ".model.cc": cpp_calls.generate_source(name, payload),
            ".sources.txt": cpp_sources.generate_list(name, payload, True),
            ".portable.sources.txt": cpp_sources.generate_list(name, payload, False),
        }.items():
            (out / f"{name}{suffix}").write_text(text)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """After `cmsisnn compile`."""
    found = Reader(tmp_path_factory.mktemp("reader"))
    (found.folder / "net.py").write_text(MODEL)
    np.savez(found.folder / "data.npz", x=np.random.default_rng(0).random((8, 1, 8, 8), dtype=np.float32))
    make_torch_faster()
    before = os.getcwd()
    os.chdir(found.folder)
    try:
        assert cli.main(block_with("cmsisnn compile").split()[1:]) == 0
    finally:
        os.chdir(before)
    return found


def test_the_program_on_the_host_computes_what_the_reference_does(reader):
    printed = reader.run(block_with("-o net_on_host"))
    graph, _ = Artifacts.of(str(reader.folder / "out/net")).graph()
    pattern = (37 * np.arange(64) % 256).astype(np.uint8).view(np.int8).reshape(1, 1, 8, 8)
    (expected,) = reference.run(graph, [pattern])
    assert [int(line) for line in printed.split()[-10:]] == expected.ravel().tolist()


@needs_arm
@needs_cmsis_nn
def test_firmware_links_with_and_without_removing_sections(reader):
    command = block_with("$(cat out/net.sources.txt)")
    reader.run(command)
    symbols = reader.symbols("firmware.elf")
    assert "cmsis_nn_delegate::net_run" in symbols and "arm_softmax_s8" in symbols
    assert "check_" not in symbols and "PayloadView" not in symbols
    whole = reader.flash("firmware.elf")
    reader.run(command.replace("-O2", "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections"))
    assert reader.flash("firmware.elf") < whole
    once = reader.run(command.replace("-O2", "-O2 -DCMSIS_NN_USE_SINGLE_ROUNDING"), succeeds=False)
    assert "round twice" in once


@needs_arm
@needs_cmsis_nn
@pytest.mark.skipif(not shutil.which("envsubst"), reason="envsubst is not on PATH (gettext)")
def test_a_response_file_does_the_same(reader):
    reader.run(block_with("envsubst"))
    assert "arm_softmax_s8" in reader.symbols("firmware.elf")


@needs_arm
@needs_cmsis_nn
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m55"])
def test_other_instruction_sets(core, tmp_path):
    reader = Reader(tmp_path)
    reader.write("net", encode(networks.ds_cnn(), get_target(core)).payload)
    command = block_with("$(cat out/net.sources.txt)")
    command = command.replace("-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard", " ".join(CORES[core]["flags"]))
    assert "cortex-m4" not in command
    reader.run(command)
    assert "cmsis_nn_delegate::net_run" in reader.symbols("firmware.elf")


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    found = Reader(tmp_path_factory.mktemp("board"), BOARD)
    assert "--target cortex-m7" in block_with("cmsisnn compile", BOARD)
    found.write("net", encode(networks.ds_cnn(), get_target("cortex-m7")).payload)
    return found


@needs_arm
@needs_cmsis_nn
def test_the_program_for_the_board_links(board):
    for name, text in {
        "startup_stm32h743xx.s": STARTUP,
        "system_stm32h7xx.c": "void SystemInit(void) {}\n",
        "STM32H743ZITx_FLASH.ld": LINKER_SCRIPT,
    }.items():
        (board.folder / name).write_text(text)
    board.run(block_with("startup_stm32h743xx.s", BOARD))
    symbols = dict(reversed(line.split()[::2]) for line in board.run("arm-none-eabi-nm firmware.elf").splitlines())
    assert int(symbols["measure"], 16) >> 24 == 0x08 and int(symbols["result"], 16) >> 24 == 0x24
    assert "PayloadView" not in board.symbols("firmware.elf")


def test_the_checksum_of_the_board_is_the_references(board):
    printed = board.run(block_with("-o check", BOARD))
    graph = networks.ds_cnn()
    shape = graph.inputs[0].shape
    pattern = (37 * np.arange(np.prod(shape)) % 256).astype(np.uint8).view(np.int8)
    assert shape[1] == 1  # rows of the image are rows in memory
    (expected,) = reference.run(graph, [pattern.reshape(shape)])
    checksum = 0
    for value in expected.astype(np.int8).tobytes():
        checksum = (31 * checksum + value) % 2**32
    assert printed.split()[-1] == str(checksum)


def test_the_board_computes_the_same_checksum():
    """On the board and on the host by the same lines."""
    loops = [
        re.search(r"( *std::uint32_t checksum = 0;\n.*?\n  }\n)", b.text, re.DOTALL)[1] for b in tried(BOARD, "cpp")
    ]
    assert loops[0] == loops[1]


def test_two_models_take_the_lines_of_both_lists(tmp_path):
    reader = Reader(tmp_path)
    payload = encode(networks.ds_cnn(), get_target("cortex-m4")).payload
    for name in ("one", "two"):
        reader.write(name, payload)
    (reader.folder / "main.cc").write_text(
        '#include "one.model.h"\n#include "two.model.h"\nusing namespace cmsis_nn_delegate;\n'
        "alignas(ONE_ALIGNMENT) static std::uint8_t arena[ONE_ARENA_BYTES];\n"
        "int main() { return one_run(arena) != two_run(arena); }\n"
    )
    (lists,) = (line for line in PAGE.read_text().splitlines() if "sort -u" in line)
    lists = lists[lists.index("$(sort") : lists.index(")`") + 1].replace(".sources", ".portable.sources")
    reader.run(f"eval g++ -Iout main.cc out/one.model.cc out/two.model.cc {lists} -o two\n./two")


def test_kernels_without_checks_refuse_every_payload(tmp_path):
    """So that an image which mixes both forms by mistake does not run unchecked calls."""
    source = """
#define CMSIS_NN_DELEGATE_WITHOUT_CHECKS
#include "runtime/payload/kernel.h"
using namespace cmsis_nn_delegate;
executorch::runtime::Error run(const void*, const Bases&);
static_assert(Kernel(operators::kPrelu, run).check == refuse_call);
"""
    assert compile_cpp(source, tmp_path) == ""
    assert "refuse_call" in compile_cpp(source.replace("#define CMSIS_NN_DELEGATE_WITHOUT_CHECKS", ""), tmp_path)
