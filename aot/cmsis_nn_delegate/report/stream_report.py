"""What a streaming model saves: `StreamReport`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class StreamOutput:
    """Columns `first` to before `end` of the `count` that the output of the whole model has along dimension `dim`."""

    dim: int
    first: int
    end: int
    count: int


@dataclass(frozen=True)
class StreamReport:
    """A model that takes `hop` columns, indices of dimension `dim` of its inputs, of a window of `window`.

    The outputs of the first `warm_up` inferences mean nothing. With a recurrent layer it has no window: outputs are
    those for all columns `since_start`, and `window` is what the model was written for. `outputs` has None for those
    that are whole. `whole_*` are of the model of the whole window, compiled with the same options: instructions as
    predicted, None if unknown, bytes of its arena, multiplications. `compared` windows gave the same outputs.
    """

    dim: int
    hop: int
    window: int
    warm_up: int
    since_start: bool
    outputs: tuple[Optional[StreamOutput], ...]
    whole_instructions: Optional[int]
    whole_arena_bytes: int
    whole_macs: int
    compared: int


def stream_lines(stream: StreamReport, instructions: Optional[int], macs: int, memory: int) -> Sequence[str]:
    """Returns a block of the report for an inference of `instructions` that takes `memory` bytes of RAM."""
    lines = [
        "Stream",
        f"  {stream.hop} new of {stream.window} columns along dimension {stream.dim} in each inference; "
        + (
            "outputs are those for all columns since the first one"
            if stream.since_start
            else f"the outputs of the first {stream.warm_up} mean nothing"
        ),
        f"  compared with the model of the whole window: {stream.compared} windows, no byte differs",
        f"  whole window: {_count(stream.whole_instructions)} instructions predicted, {stream.whole_macs:,} "
        f"multiplications, {stream.whole_arena_bytes:,} bytes of RAM",
        f"  stream:       {_count(instructions)} instructions predicted, {macs:,} multiplications, {memory:,} bytes of "
        "RAM, what is kept included",
    ]
    for index, output in enumerate(stream.outputs):
        if output is not None:
            last = f"to {output.end - 1} " if output.end - output.first > 1 else ""
            lines.append(
                f"  out {index}: column {output.first} {last}of the {output.count} of the whole window's output"
            )
    return lines


def _count(instructions: Optional[int]) -> str:
    return "unknown" if instructions is None else f"{instructions:,}"
