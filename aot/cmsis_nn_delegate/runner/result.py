"""The report of a firmware runner: the `##` lines of its UART as typed values.

For example:

    ##RUN core=cortex-m55 isa=mve kernels=portable executor=standalone revision=dbf45dbf
    ##INIT error=0 ticks=120 runtime_bytes=8 arena_bytes=20464
    ##EXEC set=0 error=0 ticks=5000
    ##CALL set=0 call=0 opcode=1 ticks=900          profile image only; opcode not from ExecuTorch's executor
    ##LAYER set=0 index=2 bytes=12 crc=89abcdef data=00ff...  of a job with layers in a profile image, before its ##EXEC
    ##OUT set=0 index=0 bytes=12 crc=89abcdef data=00ff...  data only if asked for
    ##STATE bytes=48 crc=89abcdef data=00ff...                   after all sets; if the job asks for it
    ##MEMORY method=260 planned=496 temp=20464 objects=180       ExecuTorch's executor only
    ##STACK bytes=812
    ##ERROR error=35 text                           on failure
    ##EXIT rc=0##
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import Optional

# What ExecuTorch's error numbers (runtime/core/error.h) mean for this delegate.
_ERRORS = {
    0x01: "internal error",
    0x12: "invalid argument: input or output of another number, type, shape or alignment",
    0x14: "a program with an operator that the image has no kernel for",
    0x21: "not enough memory for the handle or the arena",
    0x23: "malformed, truncated or damaged payload",
    0x30: "payload made for another format, provider of kernels, revision or instruction set, "
    "or using a kernel that the image lacks",
}


class RunnerError(RuntimeError):
    """A run that failed or whose report is incomplete; the text says why."""

    def __init__(self, message: str, error: Optional[int] = None) -> None:
        super().__init__(message)
        self.error = error  # ExecuTorch's error number, where the device gave one


@dataclass(frozen=True)
class RunInfo:
    """What was run: the line ##RUN."""

    core: str
    isa: str
    kernels: str
    executor: str
    revision: str


@dataclass(frozen=True)
class CallTime:
    """One kernel call of a profiled execution."""

    call: int
    opcode: Optional[int]  # None from ExecuTorch's executor, which does not read payloads
    ticks: int


@dataclass(frozen=True)
class Output:
    """An output tensor; `data` is None if the job did not ask for it."""

    index: int
    nbytes: int
    crc32: int
    data: Optional[bytes]


@dataclass
class Execution:
    """One execution: its input set, SysTick ticks, calls (profile image) and outputs."""

    set: int
    ticks: int
    calls: list[CallTime] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)


@dataclass(frozen=True)
class MemoryUse:
    """The bytes that ExecuTorch's executor took from each allocator, and for the objects themselves."""

    method: int
    planned: int
    temp: int  # the most at once
    objects: int  # Program, Method and data loader


@dataclass
class RunResult:
    """The whole report. Times are SysTick ticks of the simulated board, sizes are bytes."""

    info: RunInfo
    init_ticks: int
    runtime_bytes: int  # taken by init() from the runtime allocator
    arena_bytes: int
    executions: list[Execution]
    stack_bytes: int  # the most stack that was ever in use
    memory: Optional[MemoryUse] = None  # with ExecuTorch's executor
    layers: list[list[bytes]] = field(default_factory=list)  # by execution, in the job's order
    state: Optional[bytes] = None  # persistent memory after all executions, if the job asked for it


_LINE = re.compile(r"^##([A-Z]+)\s*(.*?)(?:##)?\s*$")


def _fields(rest: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in rest.split() if "=" in item)


def describe_error(error: int) -> str:
    """Describes ExecuTorch's error number in words."""
    return f"{_ERRORS.get(error, 'error')} (ExecuTorch error 0x{error:02x})"


def _output(values: dict[str, str]) -> Output:
    data = _data(values, f"output {values['index']} of set {values['set']}") if "data" in values else None
    return Output(int(values["index"]), int(values["bytes"]), int(values["crc"], 16), data)


def _data(values: dict[str, str], what: str) -> bytes:
    data = bytes.fromhex(values["data"])
    if len(data) != int(values["bytes"]) or zlib.crc32(data) != int(values["crc"], 16):
        raise RunnerError(f"{what} was garbled on the UART")
    return data


def parse_report(uart: str) -> RunResult:
    """Returns the result in `uart`, ignoring other text around the lines.

    RunnerError if the device reported an error, stopped before the end, or sent a line that
    cannot be read.
    """
    info: Optional[RunInfo] = None
    init: Optional[tuple[int, int, int]] = None  # ticks, runtime_bytes, arena_bytes
    stack: Optional[int] = None
    state: Optional[bytes] = None
    memory: Optional[MemoryUse] = None
    executions: list[Execution] = []
    layers: dict[int, dict[int, bytes]] = {}  # by execution and number in the job
    failed: Optional[int] = None  # explained by the ##ERROR line that follows
    for line in uart.splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        kind, rest = match.groups()
        values = _fields(rest)
        try:
            if kind == "ERROR":
                error = int(values["error"])
                text = rest.split(None, 1)[1] if len(rest.split(None, 1)) > 1 else ""
                raise RunnerError(f"the device reported: {text}: {describe_error(error)}", error)
            if kind == "RUN":
                info = RunInfo(**{name: values[name] for name in RunInfo.__dataclass_fields__})
            elif kind == "INIT":
                init = (int(values["ticks"]), int(values["runtime_bytes"]), int(values["arena_bytes"]))
                failed = int(values["error"]) or failed
            elif kind == "EXEC":
                failed = int(values["error"]) or failed
                executions.append(Execution(int(values["set"]), int(values["ticks"])))
            elif kind == "CALL":
                opcode = int(values["opcode"]) if "opcode" in values else None
                executions[-1].calls.append(CallTime(int(values["call"]), opcode, int(values["ticks"])))
            elif kind == "LAYER":
                what = f"layer {values['index']} of set {values['set']}"
                layers.setdefault(int(values["set"]), {})[int(values["index"])] = _data(values, what)
            elif kind == "OUT":
                executions[-1].outputs.append(_output(values))
            elif kind == "MEMORY":
                memory = MemoryUse(**{name: int(values[name]) for name in MemoryUse.__dataclass_fields__})
            elif kind == "STATE":
                state = _data(values, "the state")
            elif kind == "STACK":
                stack = int(values["bytes"])
            elif kind == "EXIT" and int(values["rc"]) != 0:
                raise RunnerError(f"the image ended with exit code {values['rc']}")
        except (KeyError, ValueError, IndexError) as error:
            raise RunnerError(f"cannot read the runner's line {line!r}: {error!r}") from error
    if failed is not None:
        raise RunnerError(f"the device failed: {describe_error(failed)}", failed)
    if info is None:
        raise RunnerError("no ##RUN line: the image did not start, or is not a runner")
    if init is None:
        raise RunnerError("no ##INIT line: the run stopped while loading the payload")
    if stack is None:
        raise RunnerError(f"no ##STACK line: the run stopped after {len(executions)} executions")
    in_order = [[data for _, data in sorted(layers.get(execution.set, {}).items())] for execution in executions]
    return RunResult(info, *init, executions, stack, memory, in_order, state)
