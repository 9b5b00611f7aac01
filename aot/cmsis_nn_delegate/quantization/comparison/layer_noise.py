"""How much noise the quantization of each layer adds, in PyTorch: `measure`.

A layer is a tensor with a scale of its own together with all weights that it is computed of: what lies between two
roundings, such as a convolution and its relu, or an input. Its *cost* is the noise that it causes in the outputs:

    N(i) = mean over outputs y of  sum (y - y_i)^2 / sum y^2,

where y_i is the output if only layer i is quantized, its weights and its result, and all other layers are float.
Roundings of different layers are nearly independent of each other, so that the N(i) add up to nearly the noise of the
quantized model; the share of layer i is N(i) / sum N. Where layers clip numbers, the sum is only an estimate: if one
layer clips them, the next need not. A layer that only moves numbers that are rounded already adds nothing.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, cast

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree

from ...support.heartbeat import numbered
from ..in_place import constant_nodes
from .noise import Noise
from .running import InitialStates, Sample, call, is_float, outputs, run
from .scales import Scales

_TOLD = 16  # layers between two lines of progress
_QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default


@dataclass
class LayerNoise:
    """What was measured of a layer. Sums and extremes are over all samples."""

    node: Node  # of the calibrated module, whose tensor has the scale
    functions: list[Node] = field(default_factory=list)  # that compute it of other layers, in order; the last is `node`
    observers: list[Node] = field(default_factory=list)  # of the tensor
    weights: list[Node] = field(default_factory=list)  # observers of weights, biases and other constants
    calibrated: Optional[tuple[float, float]] = None  # what the observer saw; None if the range is fixed
    noise: Noise = field(default_factory=Noise)  # next to the float model, with that of all layers before
    own: float = 0.0  # sum of squares of what its rounding changed
    clipped: int = 0
    count: int = 0
    differences: Optional[torch.Tensor] = None  # of each channel, the sum next to the float model
    levels: torch.Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool))  # which integers occur
    low: float = math.inf  # of the numbers before they are rounded
    high: float = -math.inf
    cost: float = 0.0  # N(i)
    weights_cost: float = 0.0  # the same with only the weights quantized

    @property
    def saturation(self) -> float:
        """The share of the numbers that lie outside of the range, by more than half a step."""
        return self.clipped / max(1, self.count)

    @property
    def shift(self) -> float:
        """The share of the noise that is a shift of the means of channels. Noise without a shift has a share, too: one
        in as many as a channel has numbers; that is taken off."""
        if self.differences is None or not self.noise.noise:
            return 0.0
        each = self.count / self.differences.numel()
        return max(0.0, float(self.differences.square().sum()) / each / self.noise.noise - 1 / each)

    @property
    def levels_used(self) -> float:
        """The share of the 256 integers, or 65,536 of a state, that occur; of as many as there are numbers, if those
        are fewer."""
        return float(self.levels.sum()) / max(1, min(len(self.levels), self.count))


def layers(prepared: GraphModule) -> list[LayerNoise]:
    """Returns the layers of a calibrated module in execution order, with nothing measured yet."""
    constant = constant_nodes(prepared.graph)
    found: dict[Node, LayerNoise] = {}
    owners: dict[Node, Node] = {}
    nodes = [n for n in prepared.graph.nodes if n not in constant and n.op in ("placeholder", "call_function")]
    for node in nodes:
        seen_by = [user for user in node.users if user.op == "call_module"]
        if seen_by:
            observer: Any = prepared.get_submodule(str(seen_by[0].target))
            found[node] = LayerNoise(node, observers=seen_by, calibrated=_calibrated(observer))
    for node in reversed(nodes):
        users = (owners[user] for user in node.users if user in owners)
        owner = node if node in found else next(users, None)
        if owner is not None:
            owners[node] = owner
            found[owner].functions.insert(0, node)
    for node in prepared.graph.nodes:
        if node.op == "call_module" and node in constant:
            readers = [owners[user] for user in node.users if user in owners]
            if readers:
                found[readers[0]].weights.append(node)
    return list(found.values())


def _calibrated(observer: Any) -> Optional[tuple[float, float]]:
    lows, highs = getattr(observer, "min_val", None), getattr(observer, "max_val", None)
    if lows is None or highs is None or lows.numel() != 1 or lows > highs:
        return None
    return float(lows), float(highs)


def measure(
    prepared: GraphModule,
    converted: GraphModule,
    samples: Sequence[Sample],
    see: Callable[[LayerNoise, torch.Tensor, int], None] = lambda layer, value, sample: None,
    progress: Callable[[str], None] = lambda line: None,
    starts: Collection[int] = (),
) -> list[LayerNoise]:
    """Returns the layers of a calibrated module with all that is measured on `samples`, which the quantized module,
    `converted`, runs too. `see` is called with each layer's float tensor of each sample. A model that keeps a state
    begins anew with each sample whose number is in `starts`.

    This takes about as long as an inference of each sample for each layer that adds noise; two, if the model keeps a
    state.
    """
    found = layers(prepared)
    scales = Scales(prepared)
    before, after = _Repeatable(prepared, starts), _Repeatable(converted, starts)
    with torch.no_grad():
        # Strict, so that both run to their ends, and set their states back.
        both = zip(before.run_all(samples), after.run_all(samples), strict=True)
        for number, (floats, quantized) in enumerate(both):
            by_name = {node.name: node for node in quantized}
            for layer in found:
                _see(layer, floats, quantized, by_name.get(layer.node.name))
                see(layer, floats[layer.node], number)
        adding = [layer for layer in found if layer.own or layer.weights]
        weighing = [layer for layer in adding if layer.weights]
        rounded = [{*layer.weights, *layer.observers} for layer in adding]
        costs = before.costs(scales, [*rounded, *(set(layer.weights) for layer in weighing)], samples, progress)
        for layer, cost in zip(adding, costs):
            layer.cost = cost
        for layer, cost in zip(weighing, costs[len(adding) :]):
            layer.weights_cost = cost
    return found


def weights_costs(
    prepared: GraphModule,
    some: Collection[LayerNoise],
    samples: Sequence[Sample],
    starts: Collection[int] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> list[float]:
    """Returns the noise in the outputs if only the weights of one layer are quantized, for each of `some` layers of a
    calibrated module."""
    with torch.no_grad():
        rounded = [set(layer.weights) for layer in some]
        return _Repeatable(prepared, starts).costs(Scales(prepared), rounded, samples, progress)


def _see(layer: LayerNoise, floats: Mapping[Node, Any], quantized: Mapping[Node, Any], twin: Optional[Node]) -> None:
    """Adds one sample to what is known of a layer. `twin` is its node in the quantized module."""
    rounding = next((user for user in twin.users if user.target is _QUANTIZE), None) if twin is not None else None
    if twin is None or rounding is None or not is_float(quantized[twin]) or not quantized[twin].numel():
        return
    parameters: Any = rounding.args
    _, scale, zero_point, low, high, _ = parameters
    before, integers = quantized[twin].double(), quantized[rounding]
    after = (integers.double() - zero_point) * scale
    layer.noise.add(floats[layer.node], after)
    layer.own += float(torch.where((before - after).abs() > 1e-4 * scale, before - after, 0.0).square().sum())
    linear = any("linear" in str(user.target) for weight in layer.weights for user in weight.users)
    channels = 1 if after.dim() > 1 and not linear else -1
    differences = (after - floats[layer.node].double()).movedim(channels, 0).flatten(1).sum(1) if after.dim() else None
    if differences is not None:
        layer.differences = differences if layer.differences is None else layer.differences + differences
    steps = before / scale + zero_point
    layer.clipped += int(((steps < low - 0.5) | (steps > high + 0.5)).sum())
    layer.count += before.numel()
    if not len(layer.levels):
        layer.levels = torch.zeros(high - low + 1, dtype=torch.bool)
    layer.levels[(integers.reshape(-1).long() - low).unique()] = True
    layer.low, layer.high = min(layer.low, float(before.min())), max(layer.high, float(before.max()))


class _Repeatable:
    """Runs a copy of a module on samples in their order, each time from the same state."""

    def __init__(self, module: GraphModule, starts: Collection[int]) -> None:
        self._module, self._starts = module, starts
        self._initial = InitialStates(module)

    def _in_order(self, samples: Sequence[Sample]) -> Iterator[Sample]:
        self._initial.restore()
        for index, sample in enumerate(samples):
            if index in self._starts:
                self._initial.restore()
            yield sample
        self._initial.restore()

    def run_all(self, samples: Sequence[Sample]) -> Iterator[Mapping[Node, Any]]:
        """Yields the values of all nodes, by sample."""
        for sample in self._in_order(samples):
            yield run(self._module, sample)

    def costs(
        self,
        scales: Scales,
        rounded: Sequence[Collection[Node]],
        samples: Sequence[Sample],
        progress: Callable[[str], None],
    ) -> list[float]:
        """Returns the outputs' noise for each of some sets of observers, if only the tensors that these see are
        rounded."""
        if not rounded:
            return []
        runs = [_Only(self._module, scales, observers) for observers in rounded]
        if self._is_divisible:
            found = self._costs_by_sample(runs, samples, progress)
        else:
            wanted = [outputs(floats) for floats in self.run_all(samples)]
            found = []
            for number, only in enumerate(numbered(runs, "layer")):
                if number % _TOLD == 0 and number:
                    progress(f"measured {number} of {len(runs)} layers")
                found.append([Noise() for _ in wanted[0]])
                for sample, floats in zip(self._in_order(samples), wanted):
                    _add(found[-1], floats, call(only.run, sample))
        shares = [[noise.noise / noise.signal for noise in noises if noise.signal] for noises in found]
        return [math.fsum(share) / max(1, len(share)) for share in shares]

    def _costs_by_sample(
        self, runs: Sequence[_Only], samples: Sequence[Sample], progress: Callable[[str], None]
    ) -> list[list[Noise]]:
        """Runs the float module once for each sample, and then only what follows from each set of observers."""
        found: list[list[Noise]] = []
        for number, sample in enumerate(numbered(samples, "sample")):
            if number:
                progress(f"measured {len(runs)} layers on {number} of {len(samples)} samples")
            floats = run(self._module, sample)
            wanted = outputs(floats)
            found = found or [[Noise() for _ in wanted] for _ in runs]
            for noises, only in zip(found, runs):
                _add(noises, wanted, only.outputs_after(floats))
        return found

    @property
    def _is_divisible(self) -> bool:
        """Returns whether a part of the module can run again by itself: it writes no tensor and draws no numbers."""
        functions: list[Any] = [node.target for node in self._module.graph.nodes if node.op == "call_function"]
        return not any(
            (schema := getattr(function, "_schema", None)) is not None
            and (schema.is_mutable or torch.Tag.nondeterministic_seeded in function.tags)
            for function in functions
        )


def _add(noises: Sequence[Noise], wanted: Sequence[Any], found: Sequence[Any]) -> None:
    for noise, a, b in zip(noises, wanted, found):
        noise.add(a, b)


class _Only(Interpreter):
    """Runs a calibrated module in float, rounding only what some of its observers see."""

    def __init__(self, prepared: GraphModule, scales: Scales, rounded: Collection[Node]) -> None:
        super().__init__(prepared)
        self.extra_traceback = False
        self._scales, self._rounded = scales, rounded

    def run_node(self, node: Node) -> Any:
        if node.op != "call_module":
            return super().run_node(node)
        source: Any = node.args[0]
        value = self.env[source]
        return self._scales.rounded(node, value) if node in self._rounded else value

    def outputs_after(self, floats: Mapping[Node, Any]) -> list[Any]:
        """Returns the outputs. What does not follow from the observers is taken from `floats`."""
        changed = set(self._rounded)
        result, known = None, cast(Any, floats)  # which is only read
        self.env = env = cast(Any, ChainMap({}, known))
        for node in self.graph.nodes:
            if node in changed or node.op == "output" or not changed.isdisjoint(node.all_input_nodes):
                changed.add(node)
                result = env[node] = self.run_node(node)
        self.env = {}
        return pytree.tree_leaves(result)
