"""What has 16 bits of sound unless a configuration says otherwise.

Samples have them from the input of the model to the operator that takes their spectrum: with 8, all that is 40 dB below
the loudest sound would be noise. So have the logarithms that cepstral coefficients are computed of, which are sums of
all of them with both signs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer import QuantizationSpec

from ..graph.tensor_type import Element
from .overrides import module_stack, stays_float
from .shared_scales import owner_of, set_spec, spec_of
from .specs import element_of_spec, fixed

SAMPLE = Element.INT16
# What a converter gives, as a float from -1 to 1.
_STEP = 1.0 / -SAMPLE.low
_SOUND = "cmsis_nn_sound"
_CEPSTRAL = "cmsis_nn_delegate.frontend.audio.Mfcc"


def find_sound(graph: Graph, targets: Collection[str]) -> None:
    """Marks the functions whose results go into the first argument of calls of `targets`, and those of an `Mfcc`."""
    for node in graph.nodes:
        if node.op == "call_function" and any(kind == _CEPSTRAL for _, kind in module_stack(node)):
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


def fix_samples(graph: Graph, targets: Collection[str]) -> None:
    """Gives inputs that a call of `targets` is computed of the scale of a converter, where they have no other fixed
    one."""
    for node in _calls(graph, targets):
        for source in _above(node):
            if source.op != "placeholder":
                continue
            for reader in source.users:
                place = owner_of((source, reader))
                spec = spec_of(place)
                if isinstance(spec, QuantizationSpec) and element_of_spec(spec) is SAMPLE:
                    set_spec(place, fixed(_STEP, 0, SAMPLE))


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
