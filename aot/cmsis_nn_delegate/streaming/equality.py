"""Whether a streaming model computes what the model of the whole window does: `count_equal_windows`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from .. import reference
from ..graph.ir import Graph
from ..graph.tensor_type import Element
from .option import Stream
from .stream import Streamed

_COMPARED = 8  # windows


def count_equal_windows(
    whole: Graph,
    streaming: Graph,
    streamed: Streamed,
    stream: Stream,
    windows: Sequence[Sequence[np.ndarray]],
    progress: Callable[[str], None],
) -> int:
    """Feeds `streaming` a signal that consists of `windows`, the inputs of `whole`, one after the other, and compares
    the outputs of some inferences, the first one with a full window among them, with those of `whole`. Returns how many
    it compared.

    AssertionError if a byte differs, which would be a defect of ours.
    """
    if streamed.since_start:
        for window in windows:
            _compare_from_start(whole, streaming, streamed, stream, window)
        return len(windows)
    signal = [np.concatenate(parts, axis=stream.dim) for parts in zip(*windows)]
    steps = signal[0].shape[stream.dim] // stream.hop
    compared = set(_compared_steps(streamed.warm_up + 1, steps))
    states = reference.initial_states(streaming)
    for step in range(1, steps + 1):
        if step % 500 == 0:
            progress(f"comparing with the whole window: inference {step} of {steps}")
        end = step * stream.hop
        given = [_columns(x, stream.dim, end - stream.hop, end) for x in signal]
        found = reference.run(streaming, _typed(streaming, given), states=states)
        if step not in compared:
            continue
        window = [_columns(x, stream.dim, end - streamed.window, end) for x in signal]
        expected = reference.run(whole, _typed(whole, window))
        for index, (a, b, kept) in enumerate(zip(found, expected, streamed.outputs)):
            wanted = b if kept is None else np.take(b, np.arange(kept[1].start, kept[1].stop), axis=kept[0])
            _require_equal(a, wanted, f"output {index} of inference {step}")
    return len(compared)


def _compare_from_start(
    whole: Graph, streaming: Graph, streamed: Streamed, stream: Stream, window: Sequence[np.ndarray]
) -> None:
    """Compares what `streaming` returns from its first inference on: each column, or the last result."""
    states = reference.initial_states(streaming)
    results = []
    for end in range(stream.hop, streamed.window + 1, stream.hop):
        given = [_columns(x, stream.dim, end - stream.hop, end) for x in window]
        results.append(reference.run(streaming, _typed(streaming, given), states=states))
    expected = reference.run(whole, _typed(whole, window))
    for index, (outputs, wanted, kept) in enumerate(zip(zip(*results), expected, streamed.outputs)):
        found = outputs[-1] if kept is None else np.concatenate(outputs, axis=kept[0])
        if kept is not None:
            wanted = np.take(wanted, np.arange(found.shape[kept[0]]), axis=kept[0])
        _require_equal(found, wanted, f"output {index} since the first inference")


def _require_equal(found: np.ndarray, wanted: np.ndarray, what: str) -> None:
    if found.shape != wanted.shape or np.any(found != wanted):
        differing = int((found != wanted).sum()) if found.shape == wanted.shape else wanted.size
        raise AssertionError(
            f"{what}: {differing} of {wanted.size} numbers are not those of the whole window, {list(found.shape)} and "
            f"{list(wanted.shape)}"
        )


def _compared_steps(first: int, last: int) -> Iterator[int]:
    """Yields some inferences, spread from the first with a full window to the last."""
    count = min(_COMPARED, last - first + 1)
    for index in range(count):
        yield first + (index * (last - first) // (count - 1) if count > 1 else 0)


def _columns(x: np.ndarray, dim: int, start: int, end: int) -> np.ndarray:
    return np.take(x, np.arange(start, end), axis=dim)


def _typed(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Returns reals as the graph takes them."""
    return [
        value.type.quantize(x) if value.element is not Element.FLOAT32 and value.quant else x
        for value, x in zip(graph.inputs, arrays)
    ]
