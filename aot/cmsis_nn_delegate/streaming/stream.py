"""From a quantized model of a whole window to one that takes a few columns at a time: `streamed`.

Both have the same calls with the same scales; see `columns` for what the streaming one computes. The columns that it
keeps are buffers that its forward writes, which become states of the delegate as those that users write do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.node import map_arg

from ..edge.naming import computed_in_float, described, module_of, source_of
from ..edge.recurrent_ops import LAYERS
from ..edge.sound_ops import PCEN
from ..quantization.in_place import written_buffers
from ..quantization.rewriting import finish
from ..support.errors import UserError
from .columns import BEFORE, Columns, runs
from .option import Stream
from .steps import DEQUANTIZE, PADS_OR_CUTS, QUANTIZE, Refusal, Step, step_of

aten = torch.ops.aten


@dataclass(frozen=True)
class Streamed:
    """A streaming model. The outputs of the first `warm_up` inferences, until the window is full, mean nothing. If it
    goes on `since_start`, because it has a recurrent layer, they are those for all columns since the first inference.

    `outputs` has for each output the dimension and the columns of the whole model's output that it has; None for one
    that is all of it.
    """

    module: GraphModule
    inputs: tuple[torch.Tensor, ...]  # examples
    window: int
    warm_up: int
    since_start: bool
    outputs: tuple[Optional[tuple[int, range]], ...]


def streamed(model: GraphModule, inputs: Sequence[torch.Tensor], stream: Stream) -> Streamed:
    """Returns the streaming form of the quantized `model`, which stays unchanged. UserError names what has none."""
    if written_buffers(model):
        raise UserError(
            "the model keeps a state of its own, and so takes a piece of the signal at a time already: compile it "
            "without a stream"
        )
    window = _window(inputs, stream)
    return _Rewriting(model, inputs, stream, window).result()


def _window(inputs: Sequence[torch.Tensor], stream: Stream) -> int:
    counts = set()
    for tensor in inputs:
        if not -tensor.dim() <= stream.dim < tensor.dim():
            raise UserError(f"an input of shape {list(tensor.shape)} has no dimension {stream.dim} to stream along")
        counts.add(tensor.shape[stream.dim])
    if len(counts) > 1:
        raise UserError(
            f"the inputs have {' and '.join(map(str, sorted(counts)))} columns along dimension {stream.dim}: all of "
            "them move on together, so give them as many"
        )
    (window,) = counts
    if stream.hop > window:
        raise UserError(f"a hop of {stream.hop} columns would skip some: the window has {window}")
    return int(window)


class _Shapes(Interpreter):
    """Finds the shape of each node's result, or of its first one."""

    def __init__(self, model: GraphModule) -> None:
        super().__init__(model)
        self.shapes: dict[Node, tuple[int, ...]] = {}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        first = result[0] if isinstance(result, (list, tuple)) and result else result
        if isinstance(first, torch.Tensor):
            self.shapes[n] = tuple(first.shape)
        return result


class _Rewriting:
    """`_columns` and `_steps` have the nodes of the whole model through which its columns go, and `_needed` which of
    their columns an inference reads."""

    def __init__(self, model: GraphModule, inputs: Sequence[torch.Tensor], stream: Stream, window: int) -> None:
        self._model, self._inputs, self._window = model, inputs, window
        self.hop = stream.hop
        self._since_start = any(node.target in LAYERS or node.target is PCEN for node in model.graph.nodes)
        shapes = _Shapes(model)
        with torch.no_grad():
            shapes.run(*inputs)
        self._shapes = shapes.shapes
        self._columns: dict[Node, Columns] = {}
        self._steps: dict[Node, Step] = {}
        self._needed: dict[Node, set[int]] = {}
        for node in model.graph.nodes:
            self._follow(node, stream.dim)
        self._placed = Graph()
        self._made: dict[tuple[Node, range], Node] = {}
        self._single: dict[Node, Node] = {}  # results without columns
        self._histories: dict[Node, _History] = {}
        self._buffers: dict[str, torch.Tensor] = {}
        # Of the states of recurrent layers: the buffer and the initial value, and what the next inference reads.
        self._states: dict[Node, tuple[Node, Node]] = {}
        self._next: dict[Node, Node] = {}
        self._last_steps: list[Callable[[], None]] = []

    def columns(self, node: Node) -> Columns:
        return self._columns[node]

    def _follow(self, node: Node, dim: int) -> None:
        if node.op == "placeholder":
            rank = len(self._shapes[node])
            first = BEFORE if self._since_start else 0
            self._columns[node] = Columns(dim % rank, self._window, 1, first, self._window)
            return
        inputs = {source: self._columns[source] for source in node.all_input_nodes if source in self._columns}
        if not inputs or node.op != "call_function":
            return
        try:
            self._steps[node] = step = step_of(node, inputs, self._shapes)
            if step.columns is not None:
                self._columns[node] = step.columns
                if step.columns.interval(self.hop) is None:
                    raise Refusal(
                        f"has columns that are {step.columns.step} columns of the input apart, which a hop of "
                        f"{self.hop} neither divides nor is a multiple of: choose another hop"
                    )
                if _is_kept(node) and step.columns.since_start:
                    self._require_all(step.columns)
        except Refusal as refusal:
            raise UserError(f"the model cannot be streamed: {_named(node)} {refusal}", exit_code=1) from refusal

    def _require_all(self, columns: Columns) -> None:
        """Refusal unless each column that arrives gives its part of `columns` at once, so that a recurrent layer has no
        columns to read that mean nothing."""
        if columns.end * columns.step != self._window or self._window % self.hop:
            raise Refusal(
                f"has {columns.end} columns without padding at the end for the {self._window} of the window, and the "
                "model has a recurrent layer, which goes on from window to window: pad convolutions by "
                "(kernel - 1) * dilation at the start, and by nothing at the end; a hop has to divide the window"
            )

    # --- What is needed

    def _find_needed(self, outputs: Sequence[Node]) -> list[Optional[tuple[int, range]]]:
        returned: list[Optional[tuple[int, range]]] = []
        for node in outputs:
            columns = self._columns.get(node)
            if columns is None:
                returned.append(None)
                continue
            newest = columns.newest(self.hop)
            if not newest:
                raise UserError(
                    f"the model cannot be streamed: each column of its output {_named(node)} depends on padding, "
                    f"because it reads more than the {self._window} columns of the window: take a longer window",
                    exit_code=1,
                )
            returned.append((columns.dim, newest))
            self._needed.setdefault(node, set()).update(newest)
        for node in reversed(self._model.graph.nodes):
            step = self._steps.get(node)
            if step is None:
                continue
            if step.columns is None:
                read = [step.reads(None)]
            else:
                read = [step.reads(run) for run in runs(self._computed(node))]
            for reads in read:
                for source, run in reads.items():
                    self._needed.setdefault(source, set()).update(run)
        return returned

    def _computed(self, node: Node) -> set[int]:
        """Returns which columns an inference computes. What is kept is computed once."""
        needed = self._needed.get(node, set())
        columns = self._columns[node]
        ends = {column for column in needed if column not in columns.moving}
        if not _is_kept(node) or len(ends) == len(needed):
            return needed
        return ends.union(columns.newest(self.hop))

    # --- The graph

    def result(self) -> Streamed:
        results: Any = self._model.graph.output_node().args[0]
        returned = self._find_needed(results)
        inputs = self._place_inputs()
        for node in self._model.graph.nodes:
            if node.target is QUANTIZE and node in self._columns:
                for run in runs(self._computed(node)):
                    self.columns_of(node, run)
            elif node.op in ("get_attr", "call_function") and node not in self._columns:
                self._without_columns(node)
        outputs = [
            self._without_columns(node) if kept is None else self.columns_of(node, kept[1])
            for node, kept in zip(results, returned)
        ]
        for step in self._last_steps:
            step()
        for history in self._histories.values():
            history.write()
        for state, value in self._next.items():
            buffer, initial = self._states[state]
            self.call(initial, aten.copy_.default, (buffer, self.requantized(value, initial)))
        self._placed.output(tuple(outputs))
        targets = {str(node.target) for node in self._placed.find_nodes(op="get_attr")}
        tensors = {name: operator.attrgetter(name)(self._model) for name in targets.difference(self._buffers)}
        module = GraphModule({**tensors, **self._buffers}, self._placed)
        finish(module)
        warm_up = 0 if self._since_start else -(-self._window // self.hop) - 1
        return Streamed(module, tuple(inputs), self._window, warm_up, self._since_start, tuple(returned))

    def _place_inputs(self) -> Iterable[torch.Tensor]:
        """Places the inputs, and returns examples of them."""
        examples = []
        for node, tensor in zip(self._model.graph.find_nodes(op="placeholder"), self._inputs):
            columns = self._columns[node]
            newest = columns.newest(self.hop)
            if not self._needed.get(node, set()) <= set(newest):
                in_float = next(filter(computed_in_float, node.users), None)
                advice = ""
                if in_float is not None:
                    advice = (
                        f": {described(in_float)} computes in float32, as `format: float32` says; give it the format "
                        "int8 or int16, since streams keep what a quantized layer has computed"
                    )
                raise UserError(
                    f"the model cannot be streamed: several columns of its input {node.name} are read together before "
                    f"they are quantized{advice}",
                    exit_code=1,
                )
            self._made[node, newest] = self._placed.placeholder(str(node.target))
            examples.append(tensor.narrow(columns.dim, newest.start, len(newest)).contiguous())
        return examples

    def columns_of(self, node: Node, run: range) -> Node:
        if (node, run) not in self._made:
            if node.target is QUANTIZE:
                made = self._quantized(node, run)
            elif node.op == "placeholder":
                newest = self._columns[node].newest(self.hop)
                made = self.part(node, self._made[node, newest], run.start - newest.start, len(run))
            else:
                made = self._steps[node].build(self, run)
            self._made[node, run] = made
        return self._made[node, run]

    def _without_columns(self, node: Node) -> Node:
        """Returns what stands for a node of the whole graph whose result has no columns."""
        if node.graph is self._placed:
            return node
        if node not in self._single:
            step = self._steps.get(node)
            copied = self._placed.node_copy(node, self._without_columns) if step is None else step.build(self, None)
            self._single[node] = copied
        return self._single[node]

    def call(self, like: Node, target: Any, args: tuple[Any, ...], kwargs: Optional[Mapping[str, Any]] = None) -> Node:
        placed: Any = map_arg((args, dict(kwargs or {})), self._without_columns)
        node = self._placed.call_function(target, *placed)
        node.meta = {key: value for key, value in like.meta.items() if key not in ("val", "tensor_meta")}
        return node

    def requantized(self, moved: Node, source: Node) -> Node:
        if source.target is not DEQUANTIZE:
            return moved
        return self.dequantized(source, self.call(source, QUANTIZE, (moved, *source.args[1:])))

    def dequantized(self, node: Node, quantized: Node) -> Node:
        return self.call(node, DEQUANTIZE, (quantized, *node.args[1:]))

    def part(self, node: Node, tensor: Node, start: int, count: int, interval: int = 1) -> Node:
        """Returns columns of `tensor`, which has some of `node`'s."""
        stop = start + (count - 1) * interval + 1
        found = self.call(node, aten.slice.Tensor, (tensor, self._columns[node].dim, start, stop, interval))
        if node.target is not QUANTIZE:
            return found
        return self.dequantized(node, self.call(node, QUANTIZE, (found, *node.args[1:])))

    def joined(self, node: Node, parts: Sequence[Node]) -> Node:
        """Returns the columns of `parts` one after the other, quantized as `node`."""
        whole = parts[0] if len(parts) == 1 else self.call(node, aten.cat.default, (parts, self._columns[node].dim))
        return self.call(node, QUANTIZE, (whole, *node.args[1:]))

    def _quantized(self, node: Node, run: range) -> Node:
        """Returns columns of a quantize: computed, or put together of what is."""
        pieces = list(runs(self._computed(node)))
        if run in pieces:
            return self._steps[node].build(self, run)
        parts = []
        at = run.start
        while at < run.stop:
            piece = next((piece for piece in pieces if at in piece), None)
            if piece is None:  # a kept column; the newest are read from there too, which makes one part of both
                end = min(run.stop, self._columns[node].end)
                parts.append(self._history(node).part(range(at, end)))
            else:
                end = min(run.stop, piece.stop)
                whole = self.dequantized(node, self.columns_of(node, piece))
                is_all = (at, end) == (piece.start, piece.stop)
                parts.append(whole if is_all else self.part(node, whole, at - piece.start, end - at))
            at = end
        return self.joined(node, parts)

    def _history(self, node: Node) -> _History:
        if node not in self._histories:
            oldest = min(column for column in self._needed[node] if column in self._columns[node].moving)
            self._histories[node] = _History(self, node, oldest)
        return self._histories[node]

    def newest(self, node: Node) -> Node:
        """Returns the newest moving columns of a quantize, dequantized."""
        return self.dequantized(node, self.columns_of(node, self._columns[node].newest(self.hop)))

    def at_the_end(self, step: Callable[[], None]) -> None:
        self._last_steps.append(step)

    def state(self, initial: Node) -> Node:
        constant: Any = initial.args[0]
        name = f"state_{len(self._states)}_of_{initial.name}"  # layers may begin with one constant
        target: Any = initial.target
        self._buffers[name] = target(operator.attrgetter(constant.target)(self._model), *initial.args[1:])
        buffer = self._placed.get_attr(name)
        state = self.requantized(buffer, initial)
        self._states[state] = buffer, initial
        return state

    def keep(self, state: Node, value: Node) -> None:
        self._next[state] = value

    def new_buffer(self, node: Node, count: int) -> Node:
        """Returns the read of a new state, columns of `node` that are all zero."""
        sizes = list(self._shapes[node])
        sizes[self._columns[node].dim] = count
        name = f"past_of_{node.name}"
        self._buffers[name] = torch.zeros(sizes)
        return self._placed.get_attr(name)


class _History:
    """The moving columns of a quantize from `oldest` on, of this inference and those before it.

    If neighbours are several inferences apart, so many sequences of columns lie in it alternately, and each inference
    reads one of them.
    """

    def __init__(self, rewriting: _Rewriting, node: Node, oldest: int) -> None:
        self._rewriting, self._node, self._oldest = rewriting, node, oldest
        columns = rewriting.columns(node)
        interval = columns.interval(rewriting.hop)
        assert interval is not None
        self._interval = interval
        self._new = len(columns.newest(rewriting.hop))
        self._kept = (columns.end - oldest - self._new) * interval
        self._buffer = rewriting.new_buffer(node, self._kept)
        kept = rewriting.dequantized(node, rewriting.joined(node, [self._buffer]))
        self._all = rewriting.dequantized(node, rewriting.joined(node, [kept, rewriting.newest(node)]))

    def part(self, run: range) -> Node:
        start = (run.start - self._oldest) * self._interval
        return self._rewriting.part(self._node, self._all, start, len(run), self._interval)

    def write(self) -> None:
        """Adds the write of what the next inference reads."""
        rewriting, node = self._rewriting, self._node
        following = rewriting.joined(node, [rewriting.part(node, self._all, self._new, self._kept)])
        rewriting.call(node, aten.copy_.default, (self._buffer, rewriting.dequantized(node, following)))


def _is_kept(node: Node) -> bool:
    """Returns whether old columns of a node are kept: what is quantized, but not what pads or cuts something that is,
    because a convolution takes padding over."""
    source = node.args[0] if node.target is QUANTIZE else None
    return isinstance(source, Node) and source.target not in PADS_OR_CUTS


def _named(node: Node) -> str:
    where = [text for text in (str(source_of(node) or ""), module_of(node)) if text]
    return node.name + (f" ({', '.join(where)})" if where else "")
