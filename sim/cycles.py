"""Runs firmware with a model of the core's cycles.

Standard library only.
"""

from __future__ import annotations

import pathlib

from sim import scratch, simulator
from sim.elf import Elf
from sim.qemu import qemu
from sim.simulator import DEFAULT_TIMEOUT_S, Result, SimulatorError

MODELLED_CORE = "cortex-m4"


def run_with_cycles(
    elf: str | pathlib.Path,
    job: bytes | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    in_flash: tuple[int, int] = (0, 0),
) -> Result:
    """Runs a firmware image like run(), in QEMU, with modelled cycles of each region: `Region.cycles` for memories
    without wait states, and in `Region.flash_waits` what flash adds to them if the image's code and constants and the
    job's bytes from `in_flash[0]` to before `in_flash[1]` lie there. sim/qemu/m4_timing.h and m4_flash.h describe the
    models.

    Raises SimulatorError for an image of any core but MODELLED_CORE, because there is no model of others.
    """
    image = Elf(elf)
    core = image.string("bsp_core")
    if core != MODELLED_CORE:
        raise SimulatorError(f"cycles are modelled for {MODELLED_CORE} only, and {image.path.name} is for {core}")
    driver = qemu.create_with_m4_cycles(in_flash)
    with scratch.ended_in_order():
        result: Result = driver.run(image, simulator.board_of(image), job, timeout_s, True)
    if result.counter_note:
        raise SimulatorError(f"cycles were not modelled: {result.counter_note}")
    return result
