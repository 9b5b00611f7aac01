"""What a model of a core's cycles needs besides LLVM's description of the core.

Standard library only.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class CoreModel:
    """How llvm-mca is called for a core, and what LLVM's model of the core does not have.

    triple, features: llvm-mca's options -mtriple and -mattr.
    refill: cycles that a branch adds that the core did not foresee: `MispredictPenalty` of LLVM's model.
    foresees: whether the core predicts branches; otherwise every branch that is taken adds `refill`, at most.
    loops: whether it has low-overhead loops, whose end costs nothing after the first time.
    overlaps: whether an instruction may write its result before one that comes earlier. llvm-mca lets no core do so
        that executes in order, so what it says is then the most, and what the core's units allow is the least.
    words: of memory that a load or store of several registers moves in a cycle, at least and at most.
    division: cycles that a division may take more than LLVM says, depending on the numbers.
    """

    triple: str
    features: str
    refill: int
    foresees: bool
    loops: bool
    overlaps: bool
    words: tuple[int, int]
    division: int


_MVE = "+mve.fp,+fp64,+dsp,+lob"

# The refills are those of LLVM 19: ARMScheduleM4.td, which describes the M33 too, ARMScheduleM7.td, ARMScheduleM55.td
# and ARMScheduleM85.td. They say nothing about words, and for LLVM a division takes 2 cycles on M33 and M55, where the
# manual of the M4 has 2 to 12.
CORE_MODELS = {
    "cortex-m7": CoreModel("thumbv7em-none-eabi", "+fp-armv8d16sp", 4, True, False, True, (2, 2), 0),
    "cortex-m33": CoreModel("thumbv8m.main-none-eabi", "+dsp,+fp-armv8d16sp", 2, False, False, False, (1, 1), 10),
    "cortex-m55": CoreModel("thumbv8.1m.main-none-eabi", _MVE, 3, False, True, False, (1, 2), 10),
    "cortex-m85": CoreModel("thumbv8.1m.main-none-eabi", _MVE, 4, True, True, True, (2, 2), 0),
}
