"""The layers of a calibrated module, the modules that compute them, and the noise of each in each format: `Layers`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from ..edge.naming import computed_in_float
from ..edge.torch_types import element_of
from ..format.element import Element
from ..ops.registry import OPS
from ..quantization.comparison.layer_noise import LayerNoise, layers, weights_costs
from ..quantization.comparison.running import Sample
from ..quantization.comparison.scales import Scales
from ..quantization.overrides import module_stack, settings_of
from ..quantization.specs import ELEMENT

_MOVING = {target for op in OPS.values() if not op.computes for target in op.annotation.targets}


@dataclass(frozen=True)
class Layer:
    """A tensor with a scale of its own, in one format. Nodes are those of the module calibrated in that format.

    unit: the module whose settings its format is of, by its name; None if nothing chooses it, as of an input.
    pinned: the caller's own settings say its format.
    element: what the tensor is rounded to. computed: it is so where it is computed, and not only where it is read.
    readers: names of the layers that read it.
    """

    noise: LayerNoise
    unit: Optional[str]
    pinned: bool
    element: Optional[Element]
    computed: bool
    readers: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.noise.node.name


def read(prepared: GraphModule) -> dict[str, Layer]:
    """Returns the layers of a calibrated module by their names, in execution order. Modules that were prepared with
    other formats have layers with the same names."""
    return with_units(prepared, layers(prepared))


def with_units(prepared: GraphModule, measured: Sequence[LayerNoise]) -> dict[str, Layer]:
    """Returns the layers that `layer_noise` found in `prepared`."""
    owners = {function: layer for layer in measured for function in layer.functions}
    found: dict[str, Layer] = {}
    for layer in measured:
        observer: Any = prepared.get_submodule(str(layer.observers[0].target))
        head = next((node for node in layer.functions if ELEMENT in node.meta), None)
        unit, pinned = None, False
        if head is not None:
            source = _source(head)
            followed = found.get(source.name) if source is not None and str(head.target) in _MOVING else None
            if followed is not None and followed.computed:
                unit, pinned = followed.unit, followed.pinned
            else:
                unit = module_stack(head)[-1][0] if module_stack(head) else None
                pinned = settings_of(head).format is not None
        reading = [owners[node].node.name for node in _reading(layer) if node in owners and owners[node] is not layer]
        found[layer.node.name] = Layer(
            layer,
            unit,
            pinned,
            element_of(observer.dtype),
            head is not None,
            tuple(dict.fromkeys(reading)),
        )
    return found


def with_floats(found: Mapping[str, Layer], measured: Mapping[str, Layer], prepared: GraphModule) -> dict[str, Layer]:
    """Returns the layers `found` of a calibrated module, and those of `measured` that it computes in float, which are
    not rounded and so have no scale in it."""
    floats = {node.name for node in prepared.graph.nodes if computed_in_float(node)}
    exact = {
        name: dataclasses.replace(layer, element=Element.FLOAT32)
        for name, layer in measured.items()
        if name in floats and name not in found
    }
    return {**found, **exact}


def _source(node: Node) -> Optional[Node]:
    """Returns the function whose result `node` reads first."""
    found = next(iter(node.all_input_nodes), None)
    while found is not None and found.op == "call_module":
        found = next(iter(found.all_input_nodes), None)
    return found


def _reading(layer: LayerNoise) -> Iterator[Node]:
    pending = list(layer.node.users)
    while pending:
        node = pending.pop(0)
        if node.op == "call_module":
            pending += node.users
        else:
            yield node


def weight_changes(prepared: GraphModule, layer: LayerNoise, other: GraphModule, twin: LayerNoise) -> bool:
    """Returns whether weights of a layer of `prepared` have other steps in `other`, whose layer is `twin`."""
    mine, others = Scales(prepared), Scales(other)
    pairs = [(mine.observer(a), others.observer(b)) for a, b in zip(layer.weights, twin.weights)]
    # A bias has the steps that follow from those of the weights and of the activations, in 32 bits.
    pairs = [(a, b) for a, b in pairs if a.dtype != torch.int32]
    return any(
        (a.dtype, a.quant_min, a.quant_max) != (b.dtype, b.quant_min, b.quant_max)
        or not torch.equal(mine.parameters(a)[0], others.parameters(b)[0])
        for a, b in pairs
    )


def rounding_ratio(prepared: GraphModule, layer: LayerNoise, other: GraphModule, twin: LayerNoise) -> float:
    """Returns by what factor the noise of rounding a tensor changes from `prepared` to `other`: it goes with the square
    of the step."""
    mine, others = Scales(prepared), Scales(other)
    step, other_step = (
        float(scales.parameters(scales.observer(found.observers[0]))[0].reshape(-1)[0])
        for scales, found in ((mine, layer), (others, twin))
    )
    return (other_step / step) ** 2


@dataclass(frozen=True)
class Sensitivity:
    """The noise that a layer adds to the outputs, as a share of their signal, in one format: by its weights, and by
    rounding its tensor."""

    weights: float
    rounding: float


def sensitivities(
    base: GraphModule,
    measured: Mapping[str, Layer],
    other: GraphModule,
    samples: Sequence[Sample],
    starts: Collection[int] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Sensitivity]:
    """Returns those of all layers in the format of `other`, by name. `measured` are the layers of `base` with their
    noise. Only what has other weights is measured again."""
    twins = read(other)
    exact = with_floats({}, measured, other).keys() - twins.keys()
    again = [
        name
        for name, layer in measured.items()
        if name in twins and layer.noise.weights and weight_changes(base, layer.noise, other, twins[name].noise)
    ]
    if again:
        progress(f"measuring what the weights of {len(again)} layers cost")
    costs = weights_costs(other, [twins[name].noise for name in again], samples, starts, progress)
    costs_of = dict(zip(again, costs))
    found = {}
    for name, own in base_sensitivities(measured).items():
        layer, twin = measured[name], twins.get(name)
        if name in exact:
            found[name] = Sensitivity(0.0, 0.0)
            continue
        if twin is None:
            found[name] = own
            continue
        rounding = own.rounding
        if twin.element is not layer.element:
            rounding *= rounding_ratio(base, layer.noise, other, twin.noise)
        found[name] = dataclasses.replace(own, weights=costs_of.get(name, own.weights), rounding=rounding)
    return found


def base_sensitivities(measured: Mapping[str, Layer]) -> dict[str, Sensitivity]:
    """Returns what was measured of the layers themselves."""
    return {
        name: Sensitivity(layer.noise.weights_cost, max(0.0, layer.noise.cost - layer.noise.weights_cost))
        for name, layer in measured.items()
    }
