"""The core behind a GDB server: which one it is, and how to start an image on it.

Addresses and bits are those of the System Control Space in Arm's architecture manuals (Armv6-M to Armv8-M), and part
numbers those of the cores' technical reference manuals.
"""

from __future__ import annotations

from ..targets.cores import ALSO_RUNS_ON
from .error import DebuggerError
from .image import Image
from .server import LR, PC, SP, Server

_CPUID = 0xE000ED00
_VTOR = 0xE000ED08
_THUMB = 1 << 24  # of xPSR
_EXCEPTION = 0x1FF
_VECTOR_BYTES = 16 * 4  # the stack pointer and the exceptions of the architecture

_PARTS = {
    0xC20: "cortex-m0",
    0xC60: "cortex-m0plus",
    0xC23: "cortex-m3",
    0xC24: "cortex-m4",
    0xC27: "cortex-m7",
    0xD20: "cortex-m23",
    0xD21: "cortex-m33",
    0xD31: "cortex-m35p",
    0xD22: "cortex-m55",
    0xD24: "cortex-m52",
    0xD23: "cortex-m85",
}


def core_of(server: Server, image: Image) -> str:
    """Returns the name of the core ("cortex-m4"), after checking that it runs what `image` was compiled for.

    What a chip lacks of its core cannot be seen here. DebuggerError for another core. One that is not in the table of
    CPUID's part numbers is called by CPUID, and may run what it can.
    """
    cpuid = server.read_word(_CPUID)
    core = _PARTS.get(cpuid >> 4 & 0xFFF)
    if core is None:
        return f"unknown core (CPUID {cpuid:#010x})"
    wanted = image.text("bsp_core")
    runs = {name.partition("+")[0] for name in (wanted, *ALSO_RUNS_ON.get(wanted, ()))}
    if core not in runs:
        raise DebuggerError(
            f"the board has a {core}, and {image.path} is for {wanted}: compile the model with --target {core}, and "
            "give the runner for it with --image"
        )
    return core


def reset(server: Server) -> None:
    """Resets the board, if the server has OpenOCD's command for it, which other servers have taken over, and leaves the
    core halted. DebuggerError if the core then stands in an exception, from which nothing can be started."""
    server.monitor("reset halt")
    xpsr = server.xpsr()
    if xpsr is not None and xpsr & _EXCEPTION:
        raise DebuggerError(
            f"the core is in its exception {xpsr & _EXCEPTION}, and {server.url} does not reset it on `monitor reset "
            "halt`: reset the board, or start the simulator again"
        )


def start(server: Server, image: Image) -> None:
    """Lets the halted core begin with the first instruction of `image`, which is loaded, when it runs next.

    DebuggerError if the core cannot use the image's vectors.
    """
    table = image.address("__text_start")
    vectors = image.bytes_at(table, _VECTOR_BYTES)
    if server.read_word(_VTOR) != table:
        server.write_word(_VTOR, table)
        used = server.read_word(_VTOR)  # cores without this register read 0
        if used != table and server.read(used, len(vectors)) != vectors:
            raise DebuggerError(
                f"the core takes its vectors from {used:#010x}, and {image.path} has them at {table:#010x}: link the "
                "image to the beginning of the memory that the board starts from"
            )
    server.set_register(SP, int.from_bytes(vectors[:4], "little"))
    server.set_register(LR, 0xFFFFFFFF)
    server.set_register(PC, int.from_bytes(vectors[4:8], "little") & ~1)
    # A core that was reset with no image in its memory has not taken this bit from there.
    xpsr = server.xpsr()
    if xpsr is not None and not xpsr & _THUMB:
        server.set_xpsr(xpsr | _THUMB)
