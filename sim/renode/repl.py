"""Writes Renode's description of a core on its board, from platforms/boards.bzl and cores.bzl.

    python3 -m sim.renode.repl FOLDER      writes FOLDER/cortex_m4.repl and so on, for every core

Memory map and UART are those of the board that images are linked for, so that the same image runs in Renode and, if
QEMU has the board, in QEMU. An executed instruction takes 1 ns of virtual time, as under QEMU's `-icount shift=0`:
SysTick then counts instructions, at the same rate.
"""

from __future__ import annotations

import pathlib
import sys

from sim.boards import Board, cores
from sim.simulator import SimulatorError

MIPS = 1000  # executed instructions per microsecond of virtual time
UART = "uart0"

_CORE = """\
// {cpu} with the memory map and the UART of the board {board}, as platforms/boards.bzl or its owner describes it.
// An instruction takes 1 ns of virtual time.
cpu: CPU.CortexM @ sysbus
    cpuType: "{type}"
    nvic: nvic
    PerformanceInMips: {mips}

nvic: IRQControllers.NVIC @ sysbus 0xE000E000
    priorityMask: {priorities}
    systickFrequency: {systick}
    IRQ -> cpu@0

"""

# The nRF51's UART is the nRF52840's without DMA, which is Renode's default.
_UARTS = {
    "cmsdk": """\
{name}: UART.CMSDK_APB_UART @ sysbus {address:#010x}
    frequency: {frequency}
""",
    "kinetis": """\
{name}: UART.K6xF_UART @ sysbus {address:#010x}
""",
    "nrf51": """\
{name}: UART.NRF52840_UART @ sysbus {address:#010x}
""",
    "ns16550": """\
{name}: UART.NS16550 @ sysbus {address:#010x}
    wideRegisters: true
""",
    "pl011": """\
{name}: UART.PL011 @ sysbus {address:#010x}
""",
    "ra_sci_b": """\
{name}: UART.RenesasRA8M1_SCI @ sysbus {address:#010x}
    frequency: {frequency}
""",
    "stm32": """\
{name}: UART.STM32_UART @ sysbus <{address:#010x}, +0x400>
""",
    "stm32_isr": """\
{name}: UART.STM32F7_USART @ sysbus {address:#010x}
    frequency: {frequency}
""",
}

_MEMORY = """
{name}: Memory.MappedMemory @ sysbus {origin:#010x}
    size: {size:#x}
"""

# CYCCNT then counts instructions, because no pipeline is simulated.
_DWT = """
dwt: Miscellaneous.DWT @ sysbus 0xE0001000
    frequency: {frequency}
"""


# That Renode has models of.
_CORES = tuple(f"cortex-m{number}" for number in ("0", "0plus", "3", "4", "7", "23", "33", "55", "85"))


def simulated_core(cpu: str, board: Board) -> str:
    """Returns the core on which Renode runs an image for `cpu` ("cortex-m33+nodsp"): that core with all of its
    features, or that of the board, which has its instructions."""
    core = cores()[cpu].core
    return core if core in _CORES else cores()[board.core].core


def cpu_type(cpu: str) -> str:
    """Returns Renode's name of a core: "cortex-m0+" for "cortex-m0plus"."""
    return cpu.replace("plus", "+")


def describe(cpu: str, board: Board) -> str:
    """Returns the .repl file of `board` for images for `cpu` ("cortex-m55")."""
    if board.uart_type not in _UARTS:
        raise SimulatorError(
            f"the board {board.name}: Renode has models of the UARTs {', '.join(_UARTS)}, but not of {board.uart_type}"
        )
    systick = board.clock_hz
    core = simulated_core(cpu, board)
    small = cores()[core].architecture in ("armv6-m", "armv8-m.base")
    text = _CORE.format(
        cpu=core.capitalize().replace("-m", "-M"),
        board=board.name,
        type=cpu_type(core),
        mips=MIPS,
        priorities="0xC0" if small else "0xF0",
        systick=systick,
    )
    text += _UARTS[board.uart_type].format(name=UART, address=board.uart, frequency=systick)
    for name, memory in board.memories.items():
        text += _MEMORY.format(name=name.lower(), origin=memory.origin, size=memory.size)
    if not small:
        text += _DWT.format(frequency=MIPS * 1_000_000)
    models = board.simulators.get("renode", {}).get("models", [])
    return text + "".join(f"{line}\n" for line in ["", *models] if models)


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for cpu, core in cores().items():
        if cpu == core.core:  # an image for a core without some features runs on the same
            path = pathlib.Path(argv[0], cpu.replace("-", "_") + ".repl")
            path.write_text(describe(cpu, core.board), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
