"""What has 16 bits of sound unless a configuration says otherwise.

Samples have them from the input of the model to the operator that takes their spectrum: with 8, all that is 40 dB below
the loudest sound would be noise. So have the logarithms that cepstral coefficients are computed of, which are sums of
all of them with both signs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torchao.quantization.pt2e.quantizer import QuantizationSpec

from ..edge.sound_ops import CEPSTRAL
from ..graph.tensor_type import Element
from ..support.errors import UserError
from .overrides import module_stack, stays_float
from .shared_scales import owner_of, set_spec, spec_of
from .specs import element_of_spec, fixed

SAMPLE = Element.INT16
# What a converter gives, as a float from -1 to 1.
_STEP = 1.0 / -SAMPLE.low
_LARGEST_PEAK = 2.0
_SOUND = "cmsis_nn_sound"
_CONVERTED = "cmsis_nn_converted"  # of an input: it has the scale of a converter


def find_sound(graph: Graph, targets: Collection[str]) -> None:
    """Marks the functions whose results go into the first argument of calls of `targets`, and those of an `Mfcc`."""
    for node in graph.nodes:
        if node.op == "call_function" and any(kind in CEPSTRAL for _, kind in module_stack(node)):
            node.meta[_SOUND] = True
    for node in _calls(graph, targets):
        pending: list[Any] = [node.args[0]]
        while pending:
            source = pending.pop()
            if source.op == "call_function" and _SOUND not in source.meta and not stays_float(source):
                source.meta[_SOUND] = True
                pending += source.all_input_nodes


def is_sound(node: Node) -> bool:
    """Returns whether `find_sound` has marked a function, which then computes in 16 bits."""
    return _SOUND in node.meta


def fix_samples(graph: Graph, targets: Collection[str], moving: Collection[str]) -> None:
    """Gives inputs of samples that a call of `targets` is computed of the scale of a converter, unless they have a
    fixed one, or share theirs with something that more than functions of `moving` compute."""
    for node in _calls(graph, targets):
        for source in _above(node):
            shape = source.meta["val"].shape if source.op == "placeholder" else ()
            if not shape or shape[-1] == 1:
                continue  # a gain, for example
            for reader in source.users:
                place = owner_of((source, reader))
                spec = spec_of(place)
                if not isinstance(spec, QuantizationSpec) or element_of_spec(spec) is not SAMPLE:
                    continue
                if not any(_is_computed(member, moving) for member in _readings(graph) if owner_of(member) == place):
                    set_spec(place, fixed(_STEP, 0, SAMPLE))
                    source.meta[_CONVERTED] = True


def converted_inputs(model: GraphModule) -> Mapping[int, str]:
    """Returns the names of inputs that have the scale of a converter, by position."""
    inputs = model.graph.find_nodes(op="placeholder")
    return {index: node.name for index, node in enumerate(inputs) if _CONVERTED in node.meta}


def require_converted(names: Mapping[int, str], sample: Sequence[torch.Tensor], what: str) -> None:
    """UserError if one of the inputs called `names` cannot be from -1 to 1 in `sample`, which messages call `what`.
    Peaks of up to 2 are limited, as a converter limits them."""
    for index, name in names.items():
        largest = float(sample[index].abs().max())
        if largest > _LARGEST_PEAK:
            raise UserError(
                f"input {name} goes up to {largest:g} in {what}, and samples of sound are from -1 to 1, as a converter "
                "gives them: divide them by 32768 if they are integers, or give the input a range of its own (ranges)"
            )


def _readings(graph: Graph) -> Iterator[tuple[Node, Node]]:
    """Yields the quantized tensors that functions read, with these."""
    for node in graph.nodes:
        for source in node.all_input_nodes:
            if spec_of((source, node)) is not None:
                yield source, node


def _is_computed(reading: tuple[Node, Node], moving: Collection[str]) -> bool:
    return any(node.op == "call_function" and str(node.target) not in moving for node in _above(reading[0]))


def _above(node: Node) -> Iterator[Node]:
    """Yields `node` and all that it is computed of."""
    pending, seen = [node], {node}
    while pending:
        found = pending.pop()
        yield found
        pending += [source for source in found.all_input_nodes if source not in seen]
        seen.update(pending)


def _calls(graph: Graph, targets: Collection[str]) -> Iterator[Node]:
    """Yields the calls of `targets` that are quantized."""
    for node in graph.nodes:
        if node.op == "call_function" and str(node.target) in targets and not stays_float(node):
            yield node
