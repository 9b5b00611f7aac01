"""Starts an image of this folder in QEMU, with its UART at a pseudo terminal, for the runner of MLPerf Tiny.

    bazel run //examples/mlperf_tiny/device:simulate -- IMAGE.elf

prints the port, and runs until it is interrupted.
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

from sim import simulator
from sim.elf import Elf
from sim.qemu import qemu


@contextlib.contextmanager
def port_of(image: Path) -> Iterator[str]:
    """Yields the pseudo terminal of the simulated board's UART; afterwards the simulator ends. SimulatorError if there
    is no QEMU."""
    elf = Elf(image)
    command = [qemu.find_qemu(), *qemu.machine_arguments(elf, simulator.board_of(elf), None), "-serial", "pty"]
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


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with port_of(Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), argv[1])) as port:
            print(port, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    except simulator.SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
