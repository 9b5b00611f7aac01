"""Runs payloads on a simulated core, with the firmware and the simulator driver of the checkout."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from ..format import schema
from ..payload.decode import Tensor, decode
from ..payload.tensor_data import from_bytes, to_bytes
from ..support.errors import UserError, require_file
from ..support.finite import require_finite
from .checkout import find_checkout
from .job import JOB_LAYER, JobFlag, Layer, build_job, build_program_job, payload_range
from .result import Output, RunInfo, RunnerError, RunResult, parse_report

MODELLED_BY_MANUAL = "cortex-m4"
MODELLED_CORES = (MODELLED_BY_MANUAL, "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85")  # those of sim.cycles
Cycles = tuple[int, int]  # modelled: at least, at most

_JOB_BYTES = 2 << 20  # every board's mailbox has at least this much


@dataclass(frozen=True)
class Run:
    """The results of all input sets, and the measurements. Instructions are None if not counted."""

    outputs: list[list[np.ndarray]]  # by input set, in logical shape and order
    info: RunInfo
    simulator: str  # "QEMU 7.2.22"
    simulated_core: str  # "cortex-m33": may be another than that of the image, with all instructions of that
    simulator_note: str  # why this one, where there was a choice
    init_instructions: Optional[int]
    instructions: Optional[list[int]]  # by input set
    runtime_bytes: int
    arena_bytes: int
    stack_bytes: int
    layers: list[list[bytes]]  # by input set, in the order of the layers that were asked for
    state: Optional[bytes]  # persistent memory after the last one; None with ExecuTorch's executor, or if there is none
    calls: Optional[list[list[int]]]  # instructions by input set and call, with the tracer's; none from other images
    cycles: list[Cycles]  # by input set, if they were modelled, else empty
    call_cycles: list[list[Cycles]]  # by input set and call, with the tracer's
    flash_waits: list[Cycles]  # what flash adds to `cycles` if image and payload lie there; only for cortex-m4
    call_flash_waits: list[list[Cycles]]
    cycle_model: str  # what models the cycles: "LLVM 19.1.7"; "" if they were not modelled
    cycle_note: str  # executed instructions that it does not know; "" if it knows all

    @property
    def place(self) -> str:
        """Returns the simulator, and the simulated core if it is not that of the image."""
        return place_of(self.simulator, self.simulated_core, self.info.core)


def place_of(simulator: str, simulated_core: str, core: str) -> str:
    """Returns where an image for `core` ran: the simulator, and the core that it simulated if that is another."""
    if simulated_core in ("", core):
        return simulator
    return f"{simulator}, simulated on a {simulated_core.replace('cortex-m', 'Cortex-M').replace('plus', '+')}"


def default_image(core: str, executor: str = "standalone", profile: bool = False) -> Path:
    """Returns the firmware that Bazel built for `core` and an executor ("standalone", "executorch"); `profile` is for
    the one that times calls and prints layers. UserError if it is not built."""
    checkout = find_checkout()
    name = re.sub("[-+.]", "_", core) + ("" if executor == "standalone" else f"_{executor}") + "_profile" * profile
    image = checkout and checkout / "bazel-bin" / "runtime" / f"{name}.elf"
    if image and image.is_file():
        return image
    outside = "" if checkout else "this folder is outside of a checkout of the project's repository; "
    raise UserError(
        f"there is no firmware for {core} with the executor {executor}: {outside}build it with `bazel build "
        f"//runtime:{name}` in the project's checkout, or give another with --image"
    )


def run(
    payload: bytes,
    inputs: Sequence[Sequence[np.ndarray]],
    image: Union[str, Path],
    *,
    program: Optional[bytes] = None,
    layers: Sequence[Layer] = (),
    state: Optional[bytes] = None,
    null_kernels: bool = False,
    verify_crc: bool = True,
    cycles: bool = False,
    payload_in_ram: bool = False,
    timeout_s: float = 600.0,
    progress: Optional[Callable[[str], None]] = None,
) -> Run:
    """Runs `payload` once for each element of `inputs`, which are arrays in logical shape and order.

    With `program`, the .pte whose only delegate call is `payload`, ExecuTorch's executor runs that program; `image`
    must contain that executor.

    layers: what to print of each execution. Only profile images of the standalone executor can.
    state: persistent memory before the first inputs, as `Run.state` has it after the last ones; zeros if not given.
    null_kernels: run kernels that return at once, to measure all the rest. The outputs are then undefined.
    cycles: whether to model them too, for images of MODELLED_CORES.
    payload_in_ram: whether the payload lies in RAM in the model of flash, and not in flash as the image does.
    verify_crc: whether init() also checks the CRC of the payload, some 11 instructions a byte.
    progress: called with a line for each batch of inputs and, once per reason, if one simulator replaces another.
        The warnings about that are for programs that show warnings, which the commands of this package do not.

    UserError if there is no simulator, if `image` is not firmware, refuses the payload or fails, if an input contains
    NaN or infinity, or if ExecuTorch's executor, which hands out no state, would have to go on with one.
    """
    for number, arrays in enumerate(inputs):
        for index, array in enumerate(arrays):
            require_finite(array, f"input {index} of set {number}")
    simulator, cycle_model = _drivers()
    require_file(image, "firmware image ")
    view = decode(payload)
    try:
        sets = [[to_bytes(a, t) for a, t in zip(arrays, view.inputs, strict=True)] for arrays in inputs]
    except ValueError as error:
        raise UserError(str(error)) from error
    taken = len(program or payload) + 4096 + len(layers) * JOB_LAYER.size + view.persistent_bytes
    batch = max(1, (_JOB_BYTES - taken) // max(1, set_bytes(view.inputs)))
    remembers = view.persistent_bytes > 0 and program is None
    if program is not None and (state or (view.persistent_bytes and len(sets) > batch)):
        raise UserError(
            "ExecuTorch's executor hands out no state: start without one, and give the inputs of a model that keeps a "
            f"state at most {batch:,} at a time, or use the standalone executor"
        )

    outputs: list[list[np.ndarray]] = []
    printed: list[list[bytes]] = []
    counts: Optional[list[int]] = []
    calls: list[list[int]] = []
    modelled: list[Cycles] = []
    modelled_calls: list[list[Cycles]] = []
    waits: list[Cycles] = []
    waits_of_calls: list[list[Cycles]] = []
    report: Optional[RunResult] = None
    result = init_count = None
    stack = 0
    for start in range(0, len(sets), batch):
        if len(sets) > batch and progress:
            progress(f"simulating inputs {start} to {min(start + batch, len(sets)) - 1}")
        flags = JobFlag.PRINT_OUTPUTS
        flags |= JobFlag.VERIFY_CRC if verify_crc else JobFlag.NONE
        flags |= JobFlag.NULL_KERNELS if null_kernels else JobFlag.NONE
        flags |= JobFlag.PRINT_STATE if remembers else JobFlag.NONE
        some = sets[start : start + batch]
        if program is None:
            job = build_job(payload, some, flags, layers, state or b"")
        else:
            job = build_program_job(program, some, flags)
        try:
            if cycles:
                in_flash = (0, 0) if payload_in_ram else payload_range(job)
                result = cycle_model.run_with_cycles(str(image), job=job, timeout_s=timeout_s, in_flash=in_flash)
            else:
                result = simulator.run(str(image), job=job, timeout_s=timeout_s)
            if result.status != "exit":
                raise UserError(result.explain(), exit_code=1)
            if progress:
                _tell_once(result.simulator_note, progress)
            report = parse_report(result.uart)
        except (RunnerError, simulator.SimulatorError, ValueError, OSError) as error:  # ElfError is a ValueError
            raise UserError(str(error), exit_code=1) from error
        if any(len(found) != len(layers) for found in report.layers):
            raise UserError(f"{image} prints no layers: use a profile image, such as //runtime:cortex_m4_profile")
        printed += report.layers
        state = report.state
        for execution in report.executions:
            outputs.append([from_bytes(printed_data(o), t) for o, t in zip(execution.outputs, view.outputs)])
        if result.regions is None or len(result.regions) != 1 + len(report.executions):
            counts = None
        elif counts is not None:
            init_count = result.regions[0].instructions
            counts += [region.instructions for region in result.regions[1:]]
            if cycles:
                modelled += [region.cycles for region in result.regions[1:]]
                modelled_calls += [[call.cycles for call in region.children] for region in result.regions[1:]]
                if all(region.flash_waits for region in result.regions):
                    waits += [region.flash_waits for region in result.regions[1:]]
                    waits_of_calls += [[call.flash_waits for call in region.children] for region in result.regions[1:]]
            calls += [[call.instructions for call in region.children] for region in result.regions[1:]]
        stack = max(stack, report.stack_bytes)
    if report is None or result is None:
        raise UserError("there are no inputs to run")
    return Run(
        outputs=outputs,
        info=report.info,
        simulator=result.simulator,
        simulated_core=result.core,
        simulator_note=result.simulator_note,
        init_instructions=init_count,
        instructions=counts,
        runtime_bytes=report.runtime_bytes,
        arena_bytes=report.arena_bytes,
        stack_bytes=stack,
        layers=printed,
        state=state,
        calls=None if counts is None else calls,
        cycles=modelled,
        call_cycles=modelled_calls,
        flash_waits=waits,
        call_flash_waits=waits_of_calls,
        cycle_model=result.cycle_model,
        cycle_note=result.cycle_note,
    )


_told: set[str] = set()


def _tell_once(note: str, progress: Callable[[str], None]) -> None:
    """Reports `note` once, because a program runs many images and the reason is the same for each."""
    if note and note not in _told:
        _told.add(note)
        progress(note)


def printed_data(output: Output) -> bytes:
    """Returns the bytes of an output; UserError if the image has printed only their CRC."""
    if output.data is None:
        raise UserError("the firmware did not print its outputs", exit_code=1)
    return output.data


def set_bytes(tensors: Sequence[Tensor]) -> int:
    """Returns the bytes of an input set in a job, where every input is padded."""
    return sum(-(-t.nbytes // schema.ALIGNMENT) * schema.ALIGNMENT for t in tensors)


def _drivers() -> tuple[Any, Any]:
    """Returns the modules sim.simulator and sim.cycles of the checkout."""
    try:
        from sim import cycles, simulator

        return simulator, cycles
    except ImportError:
        pass
    checkout = find_checkout()
    if checkout is None or not (checkout / "sim" / "simulator.py").is_file():
        raise UserError("the simulator driver is part of the project's repository: run in its checkout")
    sys.path.insert(0, str(checkout))
    from sim import cycles, simulator

    return simulator, cycles
