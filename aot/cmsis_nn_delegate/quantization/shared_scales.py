"""Scales that several tensors share, in a form that PT2E resolves.

PT2E puts everything that shares a scale into one group: what a `SharedQuantizationSpec` points to, and all that is
read from or written to the same tensor. To find a group's parameters it follows the pointers, from one to the next. If
they do not all lead to one place, as with two concatenations of the same tensors in another order, it can end up in a
circle while it joins groups, and recurses without end. `point_to_first` therefore rewrites them: the member that PT2E
meets first has the parameters, and all others point to it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Optional, Union

from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationSpec,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

# The output of a node, or one node as another reads it.
Place = Union[Node, tuple[Node, Node]]


def scale_of(node: Node) -> Optional[QuantizationSpecBase]:
    """Returns what the output of an annotated node is quantized with, at the end of all pointers."""
    return spec_of(owner_of(node))


def owner_of(place: Place) -> Place:
    """Returns the place whose parameters those of `place` are, at the end of all pointers."""
    while True:
        spec = spec_of(place)
        if not isinstance(spec, SharedQuantizationSpec):
            return place
        place = spec.edge_or_node


def point_to_first(graph: Graph) -> None:
    """Makes each `SharedQuantizationSpec` point to the first member of its group; see the module docstring."""
    specs = _specs(graph)
    groups = _Groups(specs)
    for place, spec in specs.items():
        if isinstance(spec, SharedQuantizationSpec):
            groups.join(place, spec.edge_or_node)
    for node in graph.nodes:
        of_node = [place for place in (node, *((node, user) for user in node.users)) if place in specs]
        alike: dict[Hashable, Place] = {}
        for place in of_node:
            groups.join(place, alike.setdefault(_kind(groups.scale(place)), place))
    for members in groups.members():
        first, *others = members
        if any(isinstance(specs[member], SharedQuantizationSpec) for member in members):
            set_spec(first, groups.scale(first))
            for member in others:
                set_spec(member, SharedQuantizationSpec(first))


class _Groups:
    """Disjoint sets of places. The representative of a set is its first member in PT2E's order."""

    def __init__(self, specs: dict[Place, QuantizationSpecBase]) -> None:
        self._specs = specs
        self._order = {place: index for index, place in enumerate(specs)}
        self._parent: dict[Place, Place] = {place: place for place in specs}
        self._scale = {
            place: spec for place, spec in specs.items() if not isinstance(spec, SharedQuantizationSpec)
        }  # by representative

    def first(self, place: Place) -> Place:
        while self._parent[place] != place:
            self._parent[place] = self._parent[self._parent[place]]
            place = self._parent[place]
        return place

    def join(self, a: Place, b: Place) -> None:
        first, second = sorted((self.first(a), self.first(b)), key=self._order.__getitem__)
        self._parent[second] = first
        if second in self._scale:
            self._scale.setdefault(first, self._scale[second])

    def scale(self, place: Place) -> QuantizationSpecBase:
        """Returns the parameters of the set of `place`."""
        return self._scale[self.first(place)]

    def members(self) -> list[list[Place]]:
        found: dict[Place, list[Place]] = {}
        for place in self._parent:
            found.setdefault(self.first(place), []).append(place)
        return list(found.values())


def _kind(spec: QuantizationSpecBase) -> Hashable:
    """Returns what PT2E compares to see whether two places of one tensor share their parameters."""
    names = ("dtype", "is_dynamic", "quant_min", "quant_max", "qscheme", "ch_axis", "scale", "zero_point")
    return tuple(getattr(spec, name, None) for name in names)


def _specs(graph: Graph) -> dict[Place, QuantizationSpecBase]:
    """Returns all annotations of activations, in the order in which PT2E meets them."""
    specs: dict[Place, QuantizationSpecBase] = {}
    for node in graph.nodes:
        annotation = node.meta.get(Q_ANNOTATION_KEY)
        if annotation is None:
            continue
        specs.update({(source, node): spec for source, spec in annotation.input_qspec_map.items()})
        if annotation.output_qspec is not None:
            specs[node] = annotation.output_qspec
    kinds = (QuantizationSpec, FixedQParamsQuantizationSpec, SharedQuantizationSpec)
    return {place: spec for place, spec in specs.items() if isinstance(spec, kinds)}


def spec_of(place: Place) -> Optional[QuantizationSpecBase]:
    """Returns the annotation of a place; None if there is none."""
    source, node = (None, place) if isinstance(place, Node) else place
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    if annotation is None:
        return None
    found: Optional[QuantizationSpecBase] = (
        annotation.output_qspec if source is None else annotation.input_qspec_map.get(source)
    )
    return found


def set_spec(place: Place, spec: QuantizationSpecBase) -> None:
    """Changes the annotation of a place that has one."""
    if isinstance(place, Node):
        place.meta[Q_ANNOTATION_KEY].output_qspec = spec
    else:
        source, node = place
        node.meta[Q_ANNOTATION_KEY].input_qspec_map[source] = spec
