"""Runs firmware with a model of the core's cycles.

Standard library only.
"""

from __future__ import annotations

import pathlib

from sim import llvm, scratch, simulator
from sim.core_models import CORE_MODELS
from sim.elf import Elf
from sim.qemu import qemu
from sim.simulator import DEFAULT_TIMEOUT_S, Result, SimulatorError

_M4 = "cortex-m4"
MODELLED_CORES = (_M4, *CORE_MODELS)


def run_with_cycles(
    elf: str | pathlib.Path,
    job: bytes | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    in_flash: tuple[int, int] = (0, 0),
) -> Result:
    """Runs a firmware image like run(), in QEMU, with modelled cycles of each region: `Region.cycles` for memories
    without wait states. sim/qemu/m4_timing.h describes the model of the Cortex-M4, sim/pricing.py that of the others.

    For a Cortex-M4, `Region.flash_waits` has what flash adds to them if the image's code and constants and the job's
    bytes from `in_flash[0]` to before `in_flash[1]` lie there: sim/qemu/m4_flash.h.

    Raises SimulatorError for an image of a core that is not one of MODELLED_CORES, and without the tools of sim/llvm.py
    for any but that of a Cortex-M4.
    """
    image = Elf(elf)
    target = image.string("bsp_core")
    core = target.partition("+")[0]
    if core not in MODELLED_CORES:
        raise SimulatorError(
            f"cycles are modelled for {', '.join(MODELLED_CORES)}, and {image.path.name} is for {target}"
        )
    if core == _M4:
        driver = qemu.create_with_m4_cycles(in_flash)
    else:
        driver = qemu.create_with_prices(core, CORE_MODELS[core], llvm.tools())
    with scratch.ended_in_order():
        result: Result = driver.run(image, simulator.board_of(image), job, timeout_s, True)
    if result.counter_note:
        raise SimulatorError(f"cycles were not modelled: {result.counter_note}")
    return result
