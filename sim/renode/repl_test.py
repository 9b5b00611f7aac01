"""The descriptions of the boards agree with the table of boards and with the images."""

import dataclasses
import pathlib
import re

import pytest

from sim.boards import cores
from sim.elf import Elf
from sim.renode import repl
from sim.simulator import SimulatorError

CORES = sorted(cpu for cpu, core in cores().items() if cpu == core.core)
ENTRY = re.compile(r"^(\w+): ([\w.]+) @ sysbus(?: (0x[0-9a-fA-F]+))?\n((?:    .*\n)*)", re.MULTILINE)


def entries(cpu):
    """Returns name -> (type, address or None, {property: value})."""
    result = {}
    for name, kind, address, body in ENTRY.findall(repl.describe(cpu, cores()[cpu].board)):
        properties = dict(line.strip().split(": ", 1) for line in body.splitlines() if ": " in line)
        result[name] = (kind, int(address, 16) if address else None, properties)
    return result


@pytest.mark.parametrize("cpu", CORES)
def test_memories_are_those_of_the_board(cpu):
    found = {
        name.upper(): (address, int(properties["size"], 16))
        for name, (kind, address, properties) in entries(cpu).items()
        if kind == "Memory.MappedMemory"
    }
    assert found == {name: (m.origin, m.size) for name, m in cores()[cpu].board.memories.items()}


@pytest.mark.parametrize("cpu", CORES)
def test_uart_and_core(cpu):
    found = entries(cpu)
    board = cores()[cpu].board
    model = {"nrf51": "UART.NRF52840_UART", "cmsdk": "UART.CMSDK_APB_UART"}[board.uart_type]
    assert found[repl.UART][:2] == (model, board.uart)
    simulated = found["cpu"][2]["cpuType"].strip('"').replace("+", "plus")
    assert simulated == repl.simulated_core(cpu, board)
    assert simulated in (cpu, board.core)
    assert simulated == cpu or cpu not in ("cortex-m0plus", "cortex-m23", "cortex-m33", "cortex-m85")
    assert found["nvic"][1] == 0xE000E000


@pytest.mark.parametrize("cpu", CORES)
def test_systick_counts_instructions_as_on_the_board(cpu):
    found = entries(cpu)
    instructions_per_second = int(found["cpu"][2]["PerformanceInMips"]) * 1_000_000
    ticks_per_second = int(found["nvic"][2]["systickFrequency"])
    assert instructions_per_second / ticks_per_second == cores()[cpu].board.instructions_per_tick


@pytest.mark.parametrize("cpu", CORES)
def test_nothing_overlaps(cpu):
    spans = sorted(
        (address, address + int(properties.get("size", "0x1000"), 16), name)
        for name, (_, address, properties) in entries(cpu).items()
        if address is not None
    )
    for (_, end, name), (begin, _, other) in zip(spans, spans[1:]):
        assert end <= begin, f"{name} overlaps {other}"


@pytest.mark.parametrize("cpu", CORES)
def test_the_image_lies_in_these_memories(cpu):
    """Compares with the addresses that an image for the core occupies, from its ELF file."""
    memories = [
        (address, address + int(properties["size"], 16))
        for kind, address, properties in entries(cpu).values()
        if kind == "Memory.MappedMemory"
    ]
    elf = Elf(pathlib.Path("platforms/bsp/selftest", cpu.replace("-", "_") + ".elf"))
    for start, end in [
        ("__text_start", "__text_end"),
        ("__data_start", "__stack_top"),
        ("__mailbox_start", "__mailbox_end"),
    ]:
        span = elf.address(start), elf.address(end)
        assert any(low <= span[0] <= span[1] <= high for low, high in memories), (start, span)


def test_the_files_have_the_same_text(tmp_path):
    assert repl.main([str(tmp_path)]) == 0
    written = {path.stem: path.read_text() for path in tmp_path.iterdir()}
    assert written == {cpu.replace("-", "_"): repl.describe(cpu, cores()[cpu].board) for cpu in CORES}


def test_a_core_without_features_is_simulated_with_them():
    board = cores()["cortex-m33"].board
    assert repl.describe("cortex-m33+nodsp", board) == repl.describe("cortex-m33", board)


def test_a_uart_that_renode_has_no_model_for():
    board = dataclasses.replace(cores()["cortex-m4"].board, uart_type="mine")
    with pytest.raises(SimulatorError, match="has models of the UARTs cmsdk, .*, but not of mine"):
        repl.describe("cortex-m4", board)


def test_further_models_of_a_board():
    plain = cores()["cortex-m4"].board
    board = dataclasses.replace(plain, simulators={"renode": {"models": ["a: Model @ sysbus 0x10", "    size: 4"]}})
    assert repl.describe("cortex-m4", board) == (
        repl.describe("cortex-m4", plain) + "\na: Model @ sysbus 0x10\n    size: 4\n"
    )
