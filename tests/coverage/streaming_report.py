"""The text of docs/streaming_networks.md, and what can be read back from it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.coverage.streaming_outcome import COMPARED, SIMULATED, WITH_WHOLE, StreamingOutcome

_CORES = {"cortex-m0plus": "M0+", "cortex-m4": "M4", "cortex-m55": "M55"}
_HEAD = f"""\
<!-- Written by `bazel run //tests/coverage:streaming_survey -- --write`. Do not edit. -->
# Networks that stream
Networks of a window of a signal that `cmsisnn compile --stream` makes models of, which take a hop of the window at a
time ([guide](guides/stream.md)). They are written in `tests/coverage/streaming_networks.py`; weights are random.
"Window" and "hop" count columns of the input. Arenas and states are bytes on a Cortex-M55; those of the whole window
include inputs and outputs, as those of a hop do.

"Differing" counts bytes: of {COMPARED:,} hops after the first window, in ExecuTorch's runtime on the host, from the
integer reference. "From whole" are those that differ from the model of the whole window, on the window that ends there,
in {WITH_WHOLE} of these hops, and "simulated" those of the first window and {SIMULATED} hops on simulated Cortex-M0+,
M4 and M55 together that differ from the reference. Under the names of these cores stand the instructions of a hop, and
of an inference of the whole window.

"""
_COLUMNS = (
    *("network", "window", "hop", "arena", "state", "arena, whole", "differing", "from whole", "simulated"),
    *(f"{core}, {what}" for core in _CORES.values() for what in ("hop", "whole")),
)
_ROW = re.compile(r"^\| (\w+) \| [\d,]+ \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", re.M)


def text(outcomes: Mapping[str, StreamingOutcome]) -> str:
    """Returns the report on all networks, by name."""
    header = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}\n"
    return _HEAD + header + "".join(f"{line(name, outcome)}\n" for name, outcome in outcomes.items())


def sizes(report: str) -> dict[str, tuple[int, ...]]:
    """Returns bytes of arena and state, and of the arena of the whole window, by the network, of a `report`."""
    return {row[0]: tuple(int(column.replace(",", "")) for column in row[1:]) for row in _ROW.findall(report)}


def line(name: str, o: StreamingOutcome) -> str:
    """Returns the row of a network."""
    numbers = o.window, o.hop, o.arena_bytes, o.state_bytes, o.whole_arena_bytes
    differing = o.differing_bytes, o.from_whole, o.simulated_bytes
    counts = [f"{n:,}" for core in _CORES for n in o.instructions.get(core, ())]
    return f"| {' | '.join([name, *(f'{n:,}' for n in numbers), *map(str, differing), *counts])} |"
