"""Runs payloads on a board: `run`.

The firmware is a runner for the board, the same that simulators run. There are two ways to it: through a GDB server
and a debug probe (device_debugger.py), and over the board's UART (device_serial.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Optional, Union

import numpy as np

from ..format.schema import Isa
from ..payload.decode import decode
from ..payload.tensor_data import from_bytes, to_bytes
from ..serial_line.port import SCHEME
from ..support.errors import UserError
from ..support.finite import require_finite
from .device_connection import Connection, DeviceRun, Progress
from .device_debugger import DebuggerConnection
from .device_serial import SerialConnection
from .job import JobFlag, build_job
from .result import RunnerError, parse_report
from .simulate import printed_data, set_bytes

_WRAP = 1 << 32  # of a debugger's cycle counter
_REFUSED = 0x30  # Error::DelegateInvalidCompatibility


def run(
    payload: bytes,
    inputs: Sequence[Sequence[np.ndarray]],
    url: str,
    image: Optional[Union[str, Path]] = None,
    *,
    board: str = "",
    state: Optional[bytes] = None,
    null_kernels: bool = False,
    timeout_s: float = 600.0,
    progress: Progress = lambda line: None,
) -> DeviceRun:
    """Runs `payload` once for each element of `inputs`, which are arrays in logical shape and order.

    url: gdb://HOST:PORT, or serial://PORT.
    image: a runner with the standalone executor, linked for the board; only for gdb://.
    board: its name, for the results.
    state: persistent memory before the first inputs, as `DeviceRun.state` has it after the last ones.
    null_kernels: whether kernels return at once, which leaves no outputs.
    timeout_s: of the image, each time that it is started; over a serial line, without a part of the report.
    progress: called with what happens next.

    UserError if the connection, the board, the image and the payload do not fit together, or the image fails; the
    message says what to do.
    """
    if not inputs:
        raise UserError("there are no inputs to run")
    for number, arrays in enumerate(inputs):
        for index, array in enumerate(arrays):
            require_finite(array, f"input {index} of set {number}")
    view = decode(payload)
    try:
        sets = [[to_bytes(a, t) for a, t in zip(arrays, view.inputs, strict=True)] for arrays in inputs]
    except ValueError as error:
        raise UserError(str(error)) from error
    flags = JobFlag.NULL_KERNELS if null_kernels else JobFlag.PRINT_OUTPUTS | JobFlag.VERIFY_CRC
    flags |= JobFlag.PRINT_STATE if view.persistent_bytes else JobFlag.NONE

    outputs: list[list[np.ndarray]] = []
    cycles: list[int] = []
    ticks: list[int] = []
    call_ticks: list[list[int]] = []
    stack = 0
    with _connection(url, image, view.isa, board, progress) as connection:
        no_cycles = connection.no_cycles
        batch = _sets_at_once(connection, payload, view.persistent_bytes, set_bytes(view.inputs))
        for first in range(0, len(sets), batch):
            if len(sets) > batch:
                progress(f"running inputs {first} to {min(first + batch, len(sets)) - 1}")
            job = build_job(payload, sets[first : first + batch], flags, state=state or b"")
            executed = connection.execute(job, timeout_s)
            try:
                report = parse_report(executed.report)
            except RunnerError as error:
                advice = connection.advice(error.error, executed.report)
                if not advice and error.error == _REFUSED:
                    advice = f"; build {connection.image} from the checkout that compiled the model, with all kernels"
                raise UserError(f"{error}{advice}", exit_code=1) from error
            for done in report.executions:
                if not null_kernels:
                    outputs.append([from_bytes(printed_data(o), t) for o, t in zip(done.outputs, view.outputs)])
                ticks.append(done.ticks)
                call_ticks.append([call.ticks for call in done.calls])
                if done.ticks >= _WRAP and not no_cycles:
                    no_cycles = f"an inference took more than the {_WRAP:,} that the counter can count"
            cycles += executed.cycles
            state, stack = report.state, max(stack, report.stack_bytes)
    return DeviceRun(
        outputs=outputs,
        info=report.info,
        core=connection.core,
        through=connection.through,
        simulated=connection.simulated,
        board=board,
        cycles=None if no_cycles else cycles,
        no_cycles=no_cycles,
        ticks=ticks,
        call_ticks=call_ticks,
        runtime_bytes=report.runtime_bytes,
        arena_bytes=report.arena_bytes,
        stack_bytes=stack,
        state=state,
    )


def _connection(url: str, image: Optional[Union[str, Path]], isa: Isa, board: str, progress: Progress) -> Connection:
    if url.startswith(SCHEME):
        if image is not None:
            raise UserError(f"the image at {url} is on the board already: leave out --image")
        return SerialConnection(url, isa, board, progress)
    if image is None:
        raise ValueError("a debugger needs an image")
    return DebuggerConnection(url, image, isa, board, progress)


def _sets_at_once(connection: Connection, payload: bytes, state_bytes: int, input_bytes: int) -> int:
    """Returns how many input sets fit into the mailbox at once, at least 1. UserError if there is no room for one."""
    taken = len(build_job(payload, [], JobFlag.NONE, state=bytes(state_bytes)))
    room = connection.mailbox_bytes - taken - 64  # for what aligns the parts
    if room < input_bytes:
        raise UserError(
            f"the model and one input take {taken + input_bytes:,} bytes, the mailbox of {connection.image} has "
            f"{connection.mailbox_bytes:,}: give the memory MAILBOX in the board's description more room"
        )
    return room // max(1, input_bytes)
