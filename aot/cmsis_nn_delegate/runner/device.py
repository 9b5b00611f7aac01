"""Runs payloads on a board, or on whatever else a GDB server controls: `run`.

The firmware is a runner for the board, the same that simulators run. Image, payload and inputs are written into memory,
and outputs read from there: the board needs no UART, but a debug probe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

import numpy as np

from ..debugger import core as cores
from ..debugger import cycle_counter, execution, loading
from ..debugger.identity import Identity, identify
from ..debugger.image import Image, Segment
from ..debugger.server import Server
from ..format.schema import Isa
from ..payload.decode import decode
from ..payload.tensor_data import from_bytes, to_bytes
from ..support.errors import UserError
from ..support.finite import require_finite
from ..targets.target import get_target
from .job import JobFlag, build_job
from .result import RunInfo, RunnerError, parse_report
from .simulate import printed_data, set_bytes

_WRAP = 1 << 32  # of the cycle counter


@dataclass(frozen=True)
class DeviceRun:
    """The results of all input sets, and what was measured."""

    outputs: list[list[np.ndarray]]  # by input set, in logical shape and order
    info: RunInfo
    core: str  # of the board: "cortex-m4"
    server: str  # "QEMU 7.2.22"; "" if it does not say who it is
    simulated: bool  # whether that server is known to simulate
    board: str  # what the user calls it; "" if it has no name
    cycles: Optional[list[int]]  # of the board's core, by input set; None if there are none
    no_cycles: str  # why; "" if there are some
    runtime_bytes: int
    arena_bytes: int
    stack_bytes: int
    state: Optional[bytes]  # persistent memory after the last input set; None if the payload has none

    @property
    def place(self) -> str:
        """Returns where the image ran, in words."""
        through = self.server or "a GDB server that does not say who it is"
        if self.simulated:
            return f"simulated on a {self.core} by {through}, through its GDB server"
        return f"{self.board or 'a board without a name'} with a {self.core}, through {through}"


def run(
    payload: bytes,
    inputs: Sequence[Sequence[np.ndarray]],
    image: Union[str, Path],
    url: str,
    *,
    board: str = "",
    state: Optional[bytes] = None,
    timeout_s: float = 600.0,
    progress: Callable[[str], None] = lambda line: None,
) -> DeviceRun:
    """Runs `payload` once for each element of `inputs`, which are arrays in logical shape and order.

    image: a runner with the standalone executor, linked for the board.  url: gdb://HOST:PORT.
    board: its name, for the results.
    state: persistent memory before the first inputs, as `DeviceRun.state` has it after the last ones.
    timeout_s: of the image, each time that it is started.  progress: called with what happens next.

    UserError if the server, the board, the image and the payload do not fit together, or the image fails; the message
    says what to do.
    """
    if not inputs:
        raise UserError("there are no inputs to run")
    for number, arrays in enumerate(inputs):
        for index, array in enumerate(arrays):
            require_finite(array, f"input {index} of set {number}")
    firmware, view = Image(image), decode(payload)
    _check_payload(firmware, view.isa)
    try:
        sets = [[to_bytes(a, t) for a, t in zip(arrays, view.inputs, strict=True)] for arrays in inputs]
    except ValueError as error:
        raise UserError(str(error)) from error
    batch = _sets_at_once(firmware, payload, view.persistent_bytes, set_bytes(view.inputs))
    flags = JobFlag.PRINT_OUTPUTS | JobFlag.VERIFY_CRC
    flags |= JobFlag.PRINT_STATE if view.persistent_bytes else JobFlag.NONE

    outputs: list[list[np.ndarray]] = []
    cycles: list[int] = []
    stack = 0
    with Server(url) as server:
        identity = identify(server)
        _check_name(identity, board)
        cores.reset(server)
        core = cores.core_of(server, firmware)
        progress(f"loading {firmware.path} into a {core} through {identity.name or url}")
        loading.load(server, firmware.segments, progress)
        no_cycles = _start_counter(server, identity, core, firmware)
        markers = None if no_cycles else execution.markers_of(firmware)
        for first in range(0, len(sets), batch):
            if len(sets) > batch:
                progress(f"running inputs {first} to {min(first + batch, len(sets)) - 1}")
            job = build_job(payload, sets[first : first + batch], flags, state=state or b"")
            loading.load(server, [Segment(firmware.address("__mailbox_start"), job)])
            cores.start(server, firmware)
            executed = execution.execute(server, firmware, markers, timeout_s)
            try:
                report = parse_report(executed.report)
            except RunnerError as error:
                raise UserError(f"{error}{_advice(error, firmware, executed.report)}", exit_code=1) from error
            for done in report.executions:
                outputs.append([from_bytes(printed_data(o), t) for o, t in zip(done.outputs, view.outputs)])
                if done.ticks >= _WRAP and not no_cycles:
                    no_cycles = f"an inference took more than the {_WRAP:,} that the counter can count"
            cycles += executed.cycles
            state, stack = report.state, max(stack, report.stack_bytes)
    return DeviceRun(
        outputs=outputs,
        info=report.info,
        core=core,
        server=identity.name,
        simulated=identity.simulates,
        board=board,
        cycles=None if no_cycles else cycles,
        no_cycles=no_cycles,
        runtime_bytes=report.runtime_bytes,
        arena_bytes=report.arena_bytes,
        stack_bytes=stack,
        state=state,
    )


def _check_payload(image: Image, isa: Isa) -> None:
    """UserError if the image has kernels of another instruction set than the payload was compiled for."""
    core, has = image.text("bsp_core"), image.text("bsp_isa")
    if has != isa.name.lower():
        raise UserError(
            f"the payload is for cores with the instruction set {isa.name.lower()}, and {image.path} is for {core}, "
            f"which has {has}: compile the model with --target {get_target(core).name}, or give the runner of its core"
        )


def _check_name(identity: Identity, board: str) -> None:
    """UserError if what a simulator computes would be called a board's."""
    if identity.simulates and board:
        raise UserError(f"this GDB server is {identity.name}, a simulator, and no {board}: leave out --board-name")


def _start_counter(server: Server, identity: Identity, core: str, image: Image) -> str:
    """Switches the cycle counter on. Returns why there are no cycles, "" if there are."""
    if identity.simulates:
        return f"{identity.name} simulates instructions, not cycles"
    if execution.markers_of(image) is None:
        return f"{image.path} has no markers around an inference"
    try:
        cycle_counter.start(server, core)
    except cycle_counter.NoCounter as error:
        return str(error)
    return ""


def _sets_at_once(image: Image, payload: bytes, state_bytes: int, input_bytes: int) -> int:
    """Returns how many input sets fit into the mailbox at once, at least 1. UserError if there is no room for one."""
    mailbox = image.address("__mailbox_end") - image.address("__mailbox_start")
    taken = len(build_job(payload, [], JobFlag.NONE, state=bytes(state_bytes)))
    room = mailbox - taken - 64  # for what aligns the parts
    if room < input_bytes:
        raise UserError(
            f"the model and one input take {taken + input_bytes:,} bytes, the mailbox of {image.path} has {mailbox:,}: "
            "give the memory MAILBOX in the board's description more room"
        )
    return room // max(1, input_bytes)


def _advice(error: RunnerError, image: Image, report: str) -> str:
    """Returns what else is known about an error that the device reports, and what to do."""
    fault = re.search(r"^##FAULT .*pc=([0-9a-f]{8}).*$", report, re.MULTILINE)
    if fault is not None:
        return f", after a fault at {image.place_of(int(fault[1], 16))}: {fault[0]}"
    if error.error == 0x30:
        return f"; build {image.path} from the checkout that compiled the model, with all kernels"
    return ""
