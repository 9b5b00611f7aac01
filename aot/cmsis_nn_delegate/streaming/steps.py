"""How each operator of a quantized ATen graph computes some of its columns: `step_of`.

A `Step` says which columns of its inputs an operator reads for given columns of its result, and builds the call that
computes them. A `Refusal` says why an operator has none.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Protocol

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from ..edge.recurrent_ops import (
    GRU,
    GRU_LAST,
    LSTM,
    LSTM_LAST,
    LSTM_PROJECTED,
    LSTM_PROJECTED_LAST,
    RNN_RELU,
    RNN_TANH,
)
from ..edge.selection_ops import TOPK_INDICES, TOPK_VALUES
from ..edge.sound_ops import LOG_MEL, PCEN, PCEN_LAST
from ..quantization.rewriting import arguments_of
from .columns import Columns, common, read_by_window

aten = torch.ops.aten


QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default
DEQUANTIZE = torch.ops.quantized_decomposed.dequantize_per_tensor.default

Shapes = Mapping[Node, tuple[int, ...]]  # of the results of the whole model; of the first one if there are several


class Refusal(Exception):
    """Why an operator cannot compute its columns one after the other, and what to write instead."""


class Builder(Protocol):
    """What a step makes its call with. All results are nodes of the streaming graph."""

    def columns_of(self, node: Node, run: range) -> Node:
        """Returns the columns `run` of the result of `node`."""

    def call(self, like: Node, target: Any, args: tuple[Any, ...], kwargs: Optional[Mapping[str, Any]] = None) -> Node:
        """Returns a call in the place of `like`. Nodes of the whole graph among its arguments have no columns."""

    def requantized(self, moved: Node, source: Node) -> Node:
        """Returns `moved`, the numbers of `source` at other places, with the scale of `source`."""

    def at_the_end(self, step: Callable[[], None]) -> None:
        """Calls `step` when all columns are computed."""

    def dequantized(self, node: Node, quantized: Node) -> Node:
        """Returns the floats of what has the scale of `node`, a quantize or dequantize."""

    def state(self, initial: Node) -> Node:
        """Returns what is kept of an inference for the next one: at first the constant that `initial` dequantizes."""

    def keep(self, state: Node, value: Node) -> None:
        """Makes `value` what the next inference has as `state`."""


@dataclass(frozen=True)
class Step:
    """`columns` is None for a result that has none left, such as a mean over the window."""

    columns: Optional[Columns]
    # The columns that are read of each input which has columns; with None all of the result is computed.
    reads: Callable[[Optional[range]], Mapping[Node, range]]
    build: Callable[[Builder, Optional[range]], Node]


def step_of(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Returns the step of a call that reads `inputs`. Refusal if it has none."""
    for kinds, step in _STEPS:
        if node.target in kinds:
            return step(node, inputs, shapes)
    tags = getattr(node.target, "tags", ())
    if torch.Tag.pointwise in tags:
        return _by_column(node, inputs, shapes)
    raise Refusal("reads its columns in a way that is not known here: compute it outside of the model")


def _by_column(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Each column of the result depends on the same column of the inputs, which are broadcast."""
    rank = len(shapes[node])
    aligned = {source: found.at(found.dim + rank - len(shapes[source])) for source, found in inputs.items()}
    columns = common(aligned.values())
    if len({found.dim for found in aligned.values()}) > 1:
        raise Refusal("reads the columns of one input for each column of another")
    for source in node.all_input_nodes:
        dim = columns.dim - (rank - len(shapes[source]))
        if source not in inputs and dim >= 0 and shapes[source][dim] > 1:
            raise Refusal(
                "reads a constant that differs from column to column, and so belongs to places in the window: leave it "
                "out, or add it to what has no columns any more"
            )
    return _same(node, inputs, columns)


def _same(node: Node, inputs: Mapping[Node, Columns], columns: Columns) -> Step:
    """Reads the columns that it computes, with unchanged arguments."""

    def build(builder: Builder, run: Optional[range]) -> Node:
        assert run is not None
        return _unchanged(builder, node, {source: run for source in inputs})

    return Step(columns, lambda run: {source: _some(run) for source in inputs}, build)


def _some(run: Optional[range]) -> range:
    assert run is not None
    return run


def _unchanged(builder: Builder, node: Node, reads: Mapping[Node, range]) -> Node:
    args, kwargs = map_arg(
        (node.args, node.kwargs),
        lambda source: builder.columns_of(source, reads[source]) if source in reads else source,
    )
    return builder.call(node, node.target, args, kwargs)


def _whole(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Reads all columns; the result has none."""
    if common(inputs.values()).since_start:
        raise Refusal(
            "reads all columns of the window, which is no part of a signal here, because the model has a recurrent "
            "layer: let it read the last column"
        )
    reads = {source: range(columns.count) for source, columns in inputs.items()}
    return Step(None, lambda run: reads, lambda builder, run: _unchanged(builder, node, reads))


def _moved(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Only gives its elements other indices."""
    ((source, columns),) = inputs.items()
    target: Any = node.target
    traced = torch.empty(shapes[source], device="meta")
    moved = target(traced, *node.args[1:], **node.kwargs)
    stride = traced.stride(columns.dim)
    places = [dim for dim in range(moved.dim()) if (moved.shape[dim], moved.stride(dim)) == (columns.count, stride)]
    if columns.count == 1 or not places:
        return _whole(node, inputs, shapes)  # as flatten() before a linear layer
    found = columns.at(places[0])

    def build(builder: Builder, run: Optional[range]) -> Node:
        assert run is not None
        if node.target not in _SIZED:
            return _unchanged(builder, node, {source: run})
        sizes = [len(run) if dim == found.dim else size for dim, size in enumerate(shapes[node])]
        return builder.call(node, aten.reshape.default, (builder.columns_of(source, run), sizes))

    return Step(found, lambda run: {source: _some(run)}, build)


def _without(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Reduces dimensions."""
    ((source, columns),) = inputs.items()
    _, dims, keep = arguments_of(node)[:3]
    rank = len(shapes[source])
    reduced = {dim % rank for dim in ([dims] if isinstance(dims, int) else dims or range(rank))}
    if columns.dim in reduced:
        return _whole(node, inputs, shapes)
    gone = 0 if keep else sum(dim < columns.dim for dim in reduced)
    return _same(node, inputs, columns.at(columns.dim - gone))


def _along(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Computes along the dimension that its argument `dim` names, or one of several."""
    columns = common(inputs.values())
    overload: Any = node.target
    dim = arguments_of(node)[[declared.name for declared in overload._schema.arguments].index("dim")]
    if dim % len(shapes[node]) == columns.dim:
        raise Refusal(_OVER_COLUMNS)
    return _same(node, inputs, columns)


def _normalized(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Normalizes the last dimensions."""
    columns = common(inputs.values())
    if columns.dim >= len(shapes[node]) - len(arguments_of(node)[1]):
        raise Refusal(_OVER_COLUMNS)
    return _same(node, inputs, columns)


def _by_channel(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Has a parameter for each channel."""
    columns = common(inputs.values())
    if columns.dim == 1:
        raise Refusal("has a parameter for each column: the columns are its channels")
    return _same(node, inputs, columns)


def _joined(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    tensors: Any = node.args[0]
    dim = arguments_of(node)[1] % len(shapes[node])
    columns = common(inputs.values())
    if dim == columns.dim:
        raise Refusal("joins columns: use torch.nn.functional.pad to add constant ones")
    if any(tensor not in inputs for tensor in tensors):
        raise Refusal("joins what has columns with a constant: compute the constant from a column, or leave it out")
    return _same(node, inputs, columns)


def _split(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    ((source, columns),) = inputs.items()
    if arguments_of(node)[2] % len(shapes[source]) == columns.dim:
        raise Refusal("splits the window: take what follows it as slices")
    return _same(node, inputs, columns)


def _item(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    return _same(node, inputs, common(inputs.values()))


def _linear(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    columns = common(inputs.values())
    if set(inputs) != {node.args[0]}:
        raise Refusal("has weights that are computed from the columns")
    return _whole(node, inputs, shapes) if columns.dim == len(shapes[node]) - 1 else _same(node, inputs, columns)


def _product(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    left: Any = node.args[0]
    if set(inputs) != {left}:
        raise Refusal("multiplies columns with each other, as attention does: every one of them depends on all others")
    columns = inputs[left]
    if len(shapes[left]) != len(shapes[node]) or columns.dim == len(shapes[node]) - 1:
        return _whole(node, inputs, shapes)
    return _same(node, inputs, columns)


def _embedded(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    if set(inputs) != {node.args[1]}:
        raise Refusal("looks up in a table that is computed from the columns")
    return _same(node, inputs, common(inputs.values()))


def _one(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Takes one index of a dimension."""
    ((source, columns),) = inputs.items()
    rank = len(shapes[source])
    _, dim, index = arguments_of(node)
    dim %= rank
    if dim != columns.dim:
        return _same(node, inputs, columns.at(columns.dim - (dim < columns.dim)))
    index %= columns.count
    reads = {source: range(index, index + 1)}

    def build(builder: Builder, run: Optional[range]) -> Node:
        return builder.call(node, node.target, (builder.columns_of(source, reads[source]), dim, 0))

    return Step(None, lambda run: reads, build)


@dataclass(frozen=True)
class _Window:
    """Column j of the result reads `kernel` columns, `dilation` apart, from j * `stride` - `padding` on."""

    source: Node
    columns: Columns  # of the source
    rank: int
    kernel: int
    stride: int
    padding: int
    dilation: int = 1

    def result(self, count: int) -> Columns:
        return read_by_window(self.columns, self.kernel, self.stride, self.padding, self.dilation, count)

    def span(self, run: range) -> range:
        """Returns what is read for columns of the result, padding included."""
        start = run.start * self.stride - self.padding
        return range(start, start + (len(run) - 1) * self.stride + (self.kernel - 1) * self.dilation + 1)

    def inside(self, run: Optional[range]) -> Mapping[Node, range]:
        """Returns what is read without padding, one column at least."""
        span = self.span(_some(run))
        if self.columns.since_start:
            return {self.source: range(span.start, max(span.start + 1, min(span.stop, self.columns.count)))}
        start = min(max(span.start, 0), self.columns.count - 1)
        return {self.source: range(start, max(start + 1, min(span.stop, self.columns.count)))}

    def padding_of(self, run: range) -> tuple[int, int]:
        """Returns how many columns of padding are read before and after those inside."""
        span, inside = self.span(run), self.inside(run)[self.source]
        return inside.start - span.start, span.stop - inside.stop

    def columns_with(self, builder: Builder, run: range, value: float) -> Node:
        """Returns the columns that are read, with those of padding, which hold `value`."""
        found = builder.columns_of(self.source, self.inside(run)[self.source])
        before, after = self.padding_of(run)
        if (before, after) == (0, 0):
            return found
        behind = self.rank - 1 - self.columns.dim
        pad = builder.call(self.source, aten.constant_pad_nd.default, (found, [0, 0] * behind + [before, after], value))
        return builder.requantized(pad, self.source)


def _spatial(node: Node, columns: Columns, shapes: Shapes, dims: int) -> int:
    """Returns which of the spatial dimensions, the last `dims`, has the columns."""
    found = columns.dim - (len(shapes[node]) - dims)
    if found < 0:
        raise Refusal("has the columns as its channels or batch: exchange dimensions before it")
    return found


def _of(value: Any, index: int, dims: int, default: Any = None) -> int:
    """Returns an item of an argument that may be a number, or a list of one, for all dimensions."""
    values = [value] if isinstance(value, int) else list(value) or [default] * dims
    return int((values * dims)[index] if len(values) == 1 else values[index])


def _convolution(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    source, weight, bias, stride, padding, dilation, groups = arguments_of(node)
    if set(inputs) != {source}:
        raise Refusal("has weights that are computed from the columns")
    dims = len(shapes[weight]) - 2
    columns = inputs[source]
    axis = _spatial(node, columns, shapes, dims)
    dilations = [_of(dilation, index, dims) for index in range(dims)]
    paddings = (
        _same_padding(padding, shapes[weight][2:], dilations, axis)
        if isinstance(padding, str)
        else [_of(padding, index, dims) for index in range(dims)]
    )
    kernel, moves_by = shapes[weight][2 + axis], _of(stride, axis, dims)
    window = _Window(source, columns, len(shapes[source]), kernel, moves_by, paddings[axis], dilations[axis])

    def build(builder: Builder, run: Optional[range]) -> Node:
        run = _some(run)
        changed = list(paddings)
        before, after = window.padding_of(run)
        if before == after >= 0:
            changed[axis] = before
            read = builder.columns_of(source, window.inside(run)[source])
        else:
            changed[axis] = 0
            read = window.columns_with(builder, run, 0.0)
        target = (aten.conv1d.default, aten.conv2d.default)[dims - 1]
        return builder.call(node, target, (read, weight, bias, stride, changed, dilation, groups))

    return Step(window.result(shapes[node][columns.dim]), window.inside, build)


def _same_padding(padding: str, kernel: Sequence[int], dilations: Sequence[int], axis: int) -> list[int]:
    """Returns the padding before each dimension."""
    total = [d * (size - 1) if padding == "same" else 0 for d, size in zip(dilations, kernel)]
    if any(amount % 2 for index, amount in enumerate(total) if index != axis):
        raise Refusal("has padding='same' and an even kernel: pad by torch.nn.functional.pad before it")
    return [amount // 2 for amount in total]


def _pool(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    ((source, columns),) = inputs.items()
    arguments = arguments_of(node)
    average = "avg" in str(node.target)
    dims = 1 if "pool1d" in str(node.target) else 2
    axis = _spatial(node, columns, shapes, dims)
    kernel, padding = _of(arguments[1], axis, dims), _of(arguments[3], axis, dims)
    stride = _of(arguments[2], axis, dims) if arguments[2] not in ([], None) else kernel
    dilation = 1 if average else _of(arguments[4], axis, dims)
    window = _Window(source, columns, len(shapes[source]), kernel, stride, padding, dilation)
    found = window.result(shapes[node][columns.dim])
    before, after = window.padding_of(range(found.count))
    if columns.since_start and padding:
        raise Refusal("pads columns, and the model has a recurrent layer: pad by zeros before it, at the start only")
    value = 0.0
    if (before > 0 or after > 0) and average:
        ceil, include = arguments[4:6]
        if not include or (ceil and after > padding):
            raise Refusal("divides by fewer columns where it reads padding: set count_include_pad, and not ceil_mode")
    elif before > 0 or after > 0:
        if source.target is not DEQUANTIZE:
            raise Refusal("reads padding of a tensor that is not quantized")
        numbers: Any = source.args
        _, scale, zero_point, lowest = numbers[:4]
        value = (lowest - zero_point) * scale  # never more than what is there

    def build(builder: Builder, run: Optional[range]) -> Node:
        paddings = [0 if index == axis else _of(arguments[3], index, dims) for index in range(dims)]
        read = window.columns_with(builder, _some(run), value)
        return builder.call(node, node.target, (read, *arguments[1:3], paddings, *arguments[4:]))

    return Step(found, window.inside, build)


def _pooled_to(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Pools into a given number of pixels."""
    columns = common(inputs.values())
    if shapes[node][columns.dim] != 1:
        raise Refusal("pools into several parts of the window: use a pooling with a kernel size and a stride")
    return _whole(node, inputs, shapes)


def _framed(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Takes frames of samples."""
    source, frame, _, hop = arguments_of(node)[:4]
    columns = inputs[source]
    if columns.dim != len(shapes[source]) - 1:
        raise Refusal("has the columns as its batch: stream along the samples, the last dimension")
    window = _Window(source, columns, len(shapes[source]), shapes[frame][0], hop, 0)

    def build(builder: Builder, run: Optional[range]) -> Node:
        read = builder.columns_of(source, window.inside(run)[source])
        return builder.call(node, LOG_MEL, (read, *arguments_of(node)[1:]))

    return Step(window.result(shapes[node][columns.dim]), window.inside, build)


def _padded(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    ((source, columns),) = inputs.items()
    arguments = arguments_of(node)
    amounts = list(arguments[1])
    place = 2 * (len(shapes[node]) - 1 - columns.dim)
    before, after = amounts[place : place + 2] if place < len(amounts) else (0, 0)
    if (before, after) != (0, 0) and "pad.default" in str(node.target) and arguments[2] != "constant":
        raise Refusal(f"pads columns by {arguments[2]}: only constant columns are those of every window")
    window = _Window(source, columns, len(shapes[source]), 1, 1, before)

    def build(builder: Builder, run: Optional[range]) -> Node:
        run = _some(run)
        changed = [*amounts]
        if place < len(amounts):
            changed[place : place + 2] = window.padding_of(run)
        read = builder.columns_of(source, window.inside(run)[source])
        return builder.call(node, node.target, (read, changed, *arguments[2:])) if any(changed) else read

    return Step(window.result(shapes[node][columns.dim]), window.inside, build)


def _sliced(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    ((source, columns),) = inputs.items()
    _, dim, start, _, step = arguments_of(node)
    if dim % len(shapes[source]) != columns.dim:
        return _same(node, inputs, columns)
    start = start or 0
    start = min(max(start + columns.count if start < 0 else start, 0), columns.count)
    window = _Window(source, columns, len(shapes[source]), 1, step, -start)

    def build(builder: Builder, run: Optional[range]) -> Node:
        read = builder.columns_of(source, window.inside(run)[source])
        return read if step == 1 else builder.call(node, aten.slice.Tensor, (read, columns.dim, 0, None, step))

    return Step(window.result(shapes[node][columns.dim]), window.inside, build)


_LAST_CELLS = {LSTM: LSTM_LAST, LSTM_PROJECTED: LSTM_PROJECTED_LAST}


def _recurrent(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """A layer that goes on from the state of the inference before."""
    arguments = arguments_of(node)
    target: Any = node.target
    last_cells = _LAST_CELLS.get(target)
    source, *states = arguments[: 2 if last_cells is None else 3]
    *_, batch_first, reverse, lengths = arguments
    if lengths is not None:
        raise Refusal("has sequences of different lengths")
    if set(inputs) != {source}:
        raise Refusal("starts from a state that is computed from the columns")
    if reverse:
        raise Refusal("goes through the columns backwards: the last one comes first")
    columns = inputs[source]
    if columns.dim != int(batch_first):
        raise Refusal("has the columns as its batch or features: exchange dimensions before it")
    _require_start(columns, states)

    def build(builder: Builder, run: Optional[range]) -> Node:
        kept = [builder.state(state) for state in states]
        read = builder.columns_of(source, _some(run))

        def keep() -> None:
            (quantize,) = node.users  # of the result
            results = builder.dequantized(quantize, builder.columns_of(quantize, _some(run)))
            if node.target is GRU:
                last = builder.call(node, GRU_LAST, (results, batch_first, reverse))
            else:
                last = builder.call(node, aten.select.int, (results, columns.dim, -1))
            builder.keep(kept[0], last)
            if last_cells is not None:
                cells = builder.call(node, last_cells, (results, read, *kept, *arguments[3:]))
                builder.keep(kept[1], cells)

        builder.at_the_end(keep)
        return builder.call(node, node.target, (read, *kept, *arguments[1 + len(states) :]))

    return Step(columns, lambda run: {source: _some(run)}, build)


def _smoothed(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
    """Smooths bands over frames, from the state of the inference before on."""
    source, state, *parameters = arguments_of(node)
    columns = inputs[source]
    if columns.dim != len(shapes[source]) - 2:
        raise Refusal("has the columns as its batch or bands: stream along the frames, the last dimension but one")
    _require_start(columns, [state])

    def build(builder: Builder, run: Optional[range]) -> Node:
        kept = builder.state(state)
        read = builder.columns_of(source, _some(run))

        def keep() -> None:
            (quantize,) = node.users  # of the result
            results = builder.dequantized(quantize, builder.columns_of(quantize, _some(run)))
            builder.keep(kept, builder.call(node, PCEN_LAST, (results, read, kept, *parameters)))

        builder.at_the_end(keep)
        return builder.call(node, PCEN, (read, kept, *parameters))

    return Step(columns, lambda run: {source: _some(run)}, build)


def _require_start(columns: Columns, states: Sequence[Node]) -> None:
    """Raises Refusal unless what goes from column to column starts from constants, and ends with the last column."""
    if columns.end != columns.count:
        raise Refusal("reads columns that depend on padding at the end: pad at the start only")
    for state in states:
        if state.target is not DEQUANTIZE or not is_constant(state):
            raise Refusal("starts from a state that is computed: let it start from zeros or a constant")


def is_constant(node: Node) -> bool:
    """Returns whether `node` dequantizes a constant."""
    return isinstance(node.args[0], Node) and node.args[0].op == "get_attr"


def _refused(why: str) -> Callable[[Node, Mapping[Node, Columns], Shapes], Step]:
    def step(node: Node, inputs: Mapping[Node, Columns], shapes: Shapes) -> Step:
        raise Refusal(why)

    return step


def _overloads(*names: str) -> frozenset[Any]:
    found = set()
    for name in names:
        packet = getattr(aten, name, None)
        if packet is not None:
            found |= {getattr(packet, overload) for overload in packet.overloads()}
    return frozenset(found)


_OVER_COLUMNS = "computes each column from all others: let it go along another dimension"
PADS_OR_CUTS = _overloads("constant_pad_nd", "pad", "slice")
_SIZED = _overloads("view", "reshape", "_unsafe_view", "expand", "unflatten", "view_copy", "expand_copy")

_STEPS: tuple[tuple[frozenset[Any], Callable[[Node, Mapping[Node, Columns], Shapes], Step]], ...] = (
    (frozenset({QUANTIZE, DEQUANTIZE}) | _overloads("dropout", "hardswish", "relu6", "log_sigmoid"), _by_column),
    (_overloads("conv1d", "conv2d"), _convolution),
    (_overloads("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"), _pool),
    (frozenset({LOG_MEL}), _framed),
    (frozenset({PCEN}), _smoothed),
    (
        _overloads("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d"),
        _pooled_to,
    ),
    (_overloads("constant_pad_nd", "pad"), _padded),
    (_overloads("slice"), _sliced),
    (_overloads("select"), _one),
    (_overloads("mean", "sum", "amax", "amin", "argmax", "max", "min", "var", "std"), _without),
    (
        frozenset({TOPK_VALUES, TOPK_INDICES})
        | _overloads("softmax", "log_softmax", "_softmax", "_log_softmax", "glu", "cumsum"),
        _along,
    ),
    (_overloads("layer_norm", "rms_norm"), _normalized),
    (_overloads("batch_norm", "prelu"), _by_channel),
    (_overloads("cat", "concat"), _joined),
    (_overloads("split", "split_with_sizes", "chunk"), _split),
    (frozenset({operator.getitem}), _item),
    (_overloads("linear"), _linear),
    (_overloads("matmul", "bmm", "mm"), _product),
    (_overloads("embedding"), _embedded),
    (frozenset({LSTM, LSTM_PROJECTED, GRU, RNN_TANH, RNN_RELU}), _recurrent),
    (
        _SIZED | _overloads("flatten", "permute", "transpose", "unsqueeze", "squeeze", "movedim", "t", "swapaxes"),
        _moved,
    ),
    (_overloads("scaled_dot_product_attention"), _refused("computes each column from all others")),
    (
        _overloads("group_norm", "instance_norm"),
        _refused("normalizes by the mean and variance of the whole window: use batch normalization"),
    ),
)
