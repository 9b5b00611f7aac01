"""The text of docs/stateful_networks.md, and what can be read back from it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.coverage.stateful_networks import REMEMBERED
from tests.coverage.stateful_outcome import CALIBRATED, COMPARED, SIMULATED, STATELESS, WINDOW, StatefulOutcome

_CORES = {"cortex-m0plus": "M0+", "cortex-m4": "M4", "cortex-m55": "M55"}
_CLIPPED = 40
_HEAD = f"""\
<!-- Written by `bazel run //tests/coverage:stateful_survey -- --write`. Do not edit. -->
# Networks that remember
Networks that read a signal or a text step by step, and keep what they remember in buffers, which become states of the
delegate call; and networks that read windows with a recurrent layer, which have no state between inferences. They are
written in `tests/coverage/stateful_networks.py`, mostly smaller than what they are named after; `rnnoise` has the
published sizes. Weights are random; recurrent layers forget after up to {REMEMBERED} steps.

Each is compiled for a Cortex-M55, calibrated with {CALIBRATED} steps of a signal, and then runs {COMPARED:,} steps of
another one from the same source without starting anew. A step is an inference: of a network that reads windows, a
window. "State" is what the call keeps from one step to the next, in bytes.

"Differing" counts bytes of all these steps (of networks without a state, of {STATELESS}) that differ from the integer
reference on the host, under ExecuTorch's runtime, and those of the first {SIMULATED} steps on simulated Cortex-M0+, M4
and M55 together. Under the names of these cores stand the instructions of a step.

The signal to noise ratio to the float network is given for the noise of {WINDOW} steps: the first ones, those around
step 100, and the last ones. It falls where errors add up in a state. The signal is the same in all three, that of all
steps, and only what changes in it: with the mean of the outputs the ratios would be higher. In parentheses stands the
ratio of the float network's own outputs, clipped to the range that calibration saw, where it is below {_CLIPPED} dB: a
signal that is louder than that of the calibration saturates. That ends with it, unlike errors that add up.
Ratios also differ from window to window where nothing adds up: `voice_activity` returns a probability that, with random
weights, moves by few of the 256 steps that an int8 result has, and to round it costs more than all errors before that.

"""
_COLUMNS = (
    "network", "calls", "arena", "state", "payload", "differing, host", "simulated", *_CORES.values(), "first steps",
    "step 100", f"step {COMPARED:,}",
)  # fmt: skip

_ROW = re.compile(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", re.M)


def text(outcomes: Mapping[str, StatefulOutcome]) -> str:
    """Returns the report on all networks, by name."""
    rows = [_row(name, outcome) for name, outcome in outcomes.items() if outcome.whole]
    outside = [_outside(name, outcome) for name, outcome in outcomes.items() if not outcome.whole]
    rest = ["\n## Not one call\nEach with all reasons of the compiler.\n\n", *outside] if outside else []
    header = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}\n"
    return _HEAD + header + "".join(rows) + "".join(rest)


def sizes(report: str) -> dict[str, tuple[int, ...]]:
    """Returns calls, and bytes of arena and states, by the network, of a `report`. Payloads differ by some bytes with
    the data that calibrates."""
    return {row[0]: tuple(int(column.replace(",", "")) for column in row[1:]) for row in _ROW.findall(report)}


def line(name: str, outcome: StatefulOutcome) -> str:
    """Returns what became of one network."""
    found = _row(name, outcome) if outcome.whole else _outside(name, outcome)
    return f"{found.strip()} compiled in {outcome.seconds:.0f} s"


def _row(name: str, o: StatefulOutcome) -> str:
    columns = [
        name,
        *(f"{number:,}" for number in (o.calls, o.arena_bytes, o.state_bytes, o.payload_bytes)),
        str(o.differing_bytes),
        str(o.simulated_bytes),
        *(f"{o.instructions[core]:,}" if core in o.instructions else "-" for core in _CORES),
        *(_noise(ratio, clipped) for ratio, clipped in zip(o.sqnr, o.clipped)),
    ]
    return f"| {' | '.join(columns)} |\n"


def _noise(ratio: float, clipped: float) -> str:
    return f"{ratio:.1f} dB" + (f" ({clipped:.1f} dB)" if clipped < _CLIPPED else "")


def _outside(name: str, o: StatefulOutcome) -> str:
    ratios = ", ".join(f"{ratio:.1f}" for ratio in o.sqnr)
    return f"- `{name}`, {o.parts} calls, {ratios} dB: {'; '.join(o.reasons)}\n"
