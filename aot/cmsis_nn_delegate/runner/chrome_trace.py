"""A profile as a trace in Chrome's JSON format, which Perfetto and speedscope open: `to_trace`.

The format is described in "Trace Event Format", a document of the Chromium project. Its times are microseconds; here an
instruction takes 1 ns of the trace, so that 1 us stands for 1,000 instructions. The trace says so itself.
"""

from __future__ import annotations

import json
from typing import Any

from .profile import Profile
from .profile_text import origin

INSTRUCTIONS_PER_US = 1000
UNIT = f"executed instructions, not time: 1 us of this trace is {INSTRUCTIONS_PER_US:,} instructions, 1 ns is one"

_PROCESS, _THREAD = 1, 1


def to_trace(profile: Profile) -> str:
    """Returns the trace: init, then the inference with its calls back to back, and what the executor takes around them
    as one event behind the last call."""
    events: list[dict[str, Any]] = [
        _named("process_name", f"{profile.name} on {profile.core}: 1 us is {INSTRUCTIONS_PER_US:,} instructions"),
        _named("thread_name", f"{profile.core}, {profile.kernels}, {profile.place}"),
        _event("init", "executor", 0, profile.init, crc_not_included=profile.crc),
        _event("inference", "executor", profile.init, profile.inference, multiplications=profile.multiplications),
    ]
    at = profile.init
    for call in profile.calls:
        events.append(
            _event(
                f"{call.index} {call.kernel}",
                call.provider,
                at,
                call.instructions,
                call=call.index,
                kernel=call.kernel,
                provider=call.provider,
                origin=origin(call),
                functions=list(call.functions),
                inputs=[list(dims) for dims in call.inputs],
                outputs=[list(dims) for dims in call.outputs],
                multiplications=call.multiplications,
                **({} if call.cycles is None else {"modelled_cycles": list(call.cycles)}),
                **({} if call.flash_waits is None else {"modelled_flash_waits": list(call.flash_waits)}),
            )
        )
        at += call.instructions
    events.append(_event("executor", "executor", at, profile.executor))
    about = {
        "unit": UNIT,
        "model": profile.name,
        "core": profile.core,
        "kernels": profile.kernels,
        "simulator": profile.place,
        "inputs": profile.inputs,
    }
    return json.dumps({"displayTimeUnit": "ns", "otherData": about, "traceEvents": events}, indent=1) + "\n"


def _event(name: str, category: str, start: int, instructions: int, **arguments: Any) -> dict[str, Any]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "pid": _PROCESS,
        "tid": _THREAD,
        "ts": start / INSTRUCTIONS_PER_US,
        "dur": instructions / INSTRUCTIONS_PER_US,
        "args": {"instructions": instructions, **arguments},
    }


def _named(what: str, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": _PROCESS, "tid": _THREAD, "args": {"name": name}}
