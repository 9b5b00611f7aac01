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
    "nrf51": """\
{name}: UART.NRF52840_UART @ sysbus {address:#010x}
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


def cpu_type(cpu: str) -> str:
    """Returns Renode's name of a core: "cortex-m0+" for "cortex-m0plus"."""
    return cpu.replace("plus", "+")


def describe(cpu: str, board: Board) -> str:
    """Returns the .repl file of `board` with `cpu` ("cortex-m55") as its core."""
    if board.uart_type not in _UARTS:
        raise SimulatorError(
            f"the board {board.name}: Renode has models of the UARTs {', '.join(_UARTS)}, but not of {board.uart_type}"
        )
    systick = board.clock_hz
    armv6 = cores()[cpu].architecture == "armv6-m"
    text = _CORE.format(
        cpu=cpu.capitalize().replace("-m", "-M"),
        board=board.name,
        type=cpu_type(cpu),
        mips=MIPS,
        priorities="0xC0" if armv6 else "0xF0",
        systick=systick,
    )
    text += _UARTS[board.uart_type].format(name=UART, address=board.uart, frequency=systick)
    for name, memory in board.memories.items():
        text += _MEMORY.format(name=name.lower(), origin=memory.origin, size=memory.size)
    if not armv6:
        text += _DWT.format(frequency=MIPS * 1_000_000)
    return text


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for cpu, core in cores().items():
        path = pathlib.Path(argv[0], cpu.replace("-", "_") + ".repl")
        path.write_text(describe(cpu, core.board), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
