"""Gives tensors the ranges that the user has fixed for them."""

from __future__ import annotations

from collections.abc import Mapping

from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer import FixedQParamsQuantizationSpec
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from ..format.element import COMMON_ELEMENT
from ..support.errors import UserError, closest
from .in_place import describe
from .overrides import module_stack, output_of_module
from .shared_scales import Place, owner_of, set_spec, spec_of
from .specs import element_of_spec, fixed_range


def fix_ranges(graph: Graph, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Changes the annotations of tensors, and of all that share their scales. UserError for a name that stands for no
    quantized tensor."""
    for name, (low, high) in ranges.items():
        for place in _places(_tensor(graph, name), name):
            owner = owner_of(place)
            spec = spec_of(owner)
            wanted = fixed_range(low, high, element_of_spec(spec) or COMMON_ELEMENT)
            if isinstance(spec, FixedQParamsQuantizationSpec) and spec != wanted:
                raise UserError(
                    f"ranges: the scale of {name!r} is fixed already, by the function that computes it or by the range "
                    "of a tensor that shares it"
                )
            set_spec(owner, wanted)


def _tensor(graph: Graph, name: str) -> Node:
    inputs = {str(node.target): node for node in graph.nodes if node.op == "placeholder"}
    node = inputs.get(name) or output_of_module(graph, name)
    if node is None:
        modules = [path for node in graph.nodes for path, _ in module_stack(node) if path]
        raise UserError(f"ranges: no input or module is {name!r}; {closest(name, [*inputs, *modules])}")
    return node


def _places(node: Node, name: str) -> list[Place]:
    """Returns where PT2E quantizes `node`: at its output, or where others read it if it is computed in float."""
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    if annotation is None:
        edges: list[Place] = [(node, user) for user in node.users]
        places = [edge for edge in edges if spec_of(edge) is not None]
        if not places:
            raise UserError(f"ranges: {name!r} stays in float, and so does all that reads it")
        return places
    if annotation.output_qspec is None:
        (reader,) = node.users
        raise UserError(
            f"ranges: {name!r} is no tensor of its own, because {describe(reader)} is fused with it; give that a range"
        )
    return [node]
