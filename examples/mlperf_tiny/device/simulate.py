"""Starts an image of this folder in QEMU, with its UART at a pseudo terminal, for the runner of MLPerf Tiny.

    bazel run //examples/mlperf_tiny/device:simulate -- IMAGE.elf [FOLDER]

prints the port, and runs until it is interrupted. With a folder of waves for streaming wake word it prints a second
port, that of the interface board, which interface_board.py stands for.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from examples.mlperf_tiny.device.interface_board import board_at
from sim import scratch, simulator
from sim.elf import Elf
from sim.qemu import qemu

# Address and bytes of what QEMU takes for a board's RAM; the mailbox of its images lies there.
_MEMORIES = {"mps2-an386": (0x21000000, 16 << 20), "mps3-an547": (0x60000000, 2 << 30)}


@contextlib.contextmanager
def _run(elf: Elf, options: list[str]) -> Iterator[str]:
    """Yields the pseudo terminal of the UART; afterwards the simulator ends."""
    options = [*qemu.machine_arguments(elf, simulator.board_of(elf), None), *options, "-serial", "pty"]
    command = [qemu.find_qemu(), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            said = ""
            for line in process.stdout or ():
                said += line
                if found := re.search(r"redirected to (\S+)", line):
                    yield found[1]
                    return
            raise simulator.SimulatorError(f"QEMU ended: {said}")
        finally:
            process.kill()


@contextlib.contextmanager
def port_of(image: Path) -> Iterator[str]:
    """Yields the pseudo terminal of the simulated board's UART; afterwards the simulator ends. SimulatorError if there
    is no QEMU."""
    with _run(Elf(image), []) as port:
        yield port


@contextlib.contextmanager
def ports_with_interface_board(image: Path, card: Path) -> Iterator[tuple[str, str]]:
    """Yields the pseudo terminals of the simulated board's UART, and of an interface board that plays the waves in
    `card` to it. SimulatorError as port_of(), or for a board whose memory cannot be shared."""
    elf = Elf(image)
    board = elf.string("bsp_board")
    if board not in _MEMORIES:
        raise simulator.SimulatorError(f"{board}: only the memory of {' and '.join(_MEMORIES)} can be shared")
    origin, size = _MEMORIES[board]
    with scratch.Folder() as folder:
        shared = folder / "memory"
        with open(shared, "wb") as file:
            file.truncate(size)  # takes no room: nobody writes most of it
        backend = f"memory-backend-file,id=shared,size={size},share=on,mem-path={str(shared).replace(',', ',,')}"
        options = ["-object", backend, "-machine", "memory-backend=shared"]
        with _run(elf, options) as port, board_at(shared, elf.address("__mailbox_start") - origin, card) as interface:
            yield port, interface


def main(argv: list[str]) -> int:
    if len(argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    for end in (signal.SIGINT, signal.SIGTERM):  # of which a shell has programs in the background ignore the first
        signal.signal(end, signal.default_int_handler)
    paths = [Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), path) for path in argv[1:]]
    try:
        with contextlib.ExitStack() as stack:
            if len(paths) == 1:
                ports: tuple[str, ...] = (stack.enter_context(port_of(paths[0])),)
            else:
                ports = stack.enter_context(ports_with_interface_board(*paths))
            print(*ports, sep="\n", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    except simulator.SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
