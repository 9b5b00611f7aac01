"""A device's profile as an ETDump, for ExecuTorch's Inspector: `cmsisnn etdump`.

    report = parse_report(uart)                      # of a profile image: it has ##CALL lines
    Path("model.etdump").write_bytes(from_report(report))
    Inspector(etdump_path="model.etdump", etrecord="model.etrecord",
              source_time_scale=TimeScale.CYCLES, target_time_scale=TimeScale.CYCLES)

The device sends numbers instead of the file, because writing an ETDump there would take ExecuTorch's developer
tools and another FlatBuffers library (flatcc). The events are those that the delegate
reports to the runtime's event tracer: call k of the payload has the identifier k, which the ETRecord
maps to the operators that the call came from.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Optional

from executorch.devtools.etdump import schema_flatcc as schema
from executorch.devtools.etdump.serialize import serialize_to_etdump_flatcc

from .result import RunResult

_ETDUMP_VERSION = 0
_NONE = -1  # what the runtime writes for an identifier that does not apply


def _event(start: int, end: int, name: Optional[str] = None, call: int = _NONE) -> schema.Event:
    event = schema.ProfileEvent(
        name=name,
        chain_index=_NONE if name == schema.PROFILE_EVENT_ENUM.RUN_MODEL.value else 0,
        instruction_id=0,
        delegate_debug_id_int=call,
        delegate_debug_id_str=None,
        delegate_debug_metadata=b"" if name is None else None,
        start_time=start,
        end_time=end,
    )
    return schema.Event(profile_event=event, allocation_event=None, debug_event=None)


def from_report(report: RunResult, instructions: Optional[Sequence[Sequence[int]]] = None) -> bytes:
    """Returns the ETDump of a program that is one delegate call.

    Times are ticks of the device. With `instructions`, counted by a simulator, the times are these counts: for
    each execution the total, then one count per call.

    ValueError if the report has no calls, or the number of counts differs from the number of calls.
    """
    runs = []
    start = 0
    for index, execution in enumerate(report.executions):
        if not execution.calls:
            raise ValueError("the report has no calls: run a profile image, such as //runtime:cortex_m55_profile")
        whole, times = execution.ticks, [call.ticks for call in execution.calls]
        if instructions is not None:
            whole, *times = instructions[index]
        if len(times) != len(execution.calls):
            raise ValueError(f"{len(times)} counts for the {len(execution.calls)} calls of execution {index}")
        events, at = [], start
        for call, time in zip(execution.calls, times):
            events.append(_event(at, at + time, call=call.call))
            at += time
        end = start + max(whole, at - start)
        events.append(_event(start, end, schema.PROFILE_EVENT_ENUM.DELEGATE_CALL.value))
        events.append(_event(start, end, schema.PROFILE_EVENT_ENUM.RUN_MODEL.value))
        runs.append(schema.RunData(name="Execute", bundled_input_index=_NONE, allocators=None, events=events))
        start = end
    data: bytes = serialize_to_etdump_flatcc(schema.ETDumpFlatCC(_ETDUMP_VERSION, runs))
    return struct.pack("<I", len(data)) + data  # the device's writer puts the size first
