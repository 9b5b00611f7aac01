"""Quantizes states, which are buffers that forward writes: what is read and what was written have one scale.

Then a state keeps the integers of one inference for the next, and the delegate can hold it.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import torch
from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from .in_place import names_of_state, written
from .shared_scales import Place, owner_of, set_spec, spec_of


def read_states_once(graph: Graph) -> None:
    """Makes one node of all that read a state: `convert_pt2e` takes another one for a constant, and would fold what
    quantizes it."""
    states = names_of_state(graph)
    first: dict[Any, Node] = {}
    for node in list(graph.find_nodes(op="get_attr")):
        if node in states and first.setdefault(node.target, node) is not node:
            node.replace_all_uses_with(first[node.target])
            graph.erase_node(node)


def states_in_float(graph: Graph, computed: set[Node], moves: Container[str], layers: Container[str]) -> set[Node]:
    """Returns the states, and what is computed of them, that stay in float; `computed` has what is computed of any
    state and of constants alone. Quantized may be those that are written as a whole by `copy_`, and whose new value has
    nothing of the old one but what operators of `moves` have moved, or one of `layers` has kept in 16 bits. Others add
    up small steps, such as a counter does, which 8 bits would round away."""
    movable: set[Node] = set()
    others: set[Node] = set()
    for state in names_of_state(graph):
        writers = [user for user in state.users if state in written(user)]
        if state.op != "get_attr" and not writers:
            continue  # a view of one
        moved, reached = _reached(state, moves, layers)
        whole = state.op == "get_attr" and all(user.target is torch.ops.aten.copy_.default for user in writers)
        kept = whole and all(writer.args[1] not in reached for writer in writers)
        (movable if kept else others).update({state, *moved, *reached})
    return computed - (movable - others)


def _reached(state: Node, moves: Container[str], layers: Container[str]) -> tuple[set[Node], set[Node]]:
    """Returns what is only moved of `state`, and what is computed of it; results of `layers` count as moved."""
    moved: set[Node] = set()
    computed: set[Node] = set()
    pending = [(user, False) for user in state.users]
    while pending:
        node, was_computed = pending.pop()
        was_computed = str(node.target) not in layers and (was_computed or str(node.target) not in moves)
        seen = computed if was_computed else moved
        if node not in seen:
            seen.add(node)
            pending += [(user, was_computed) for user in node.users]
    return moved, computed


def narrow_readers(
    graph: Graph, taking_states: Container[str], wide: Container[Node], activation: QuantizationSpecBase
) -> None:
    """Makes what reads a state of 16 bits, and is neither one of `taking_states` nor computes in 16 bits as the nodes
    `wide` do, read it in 8."""
    for node in graph.nodes:
        if str(node.target) in taking_states or node in wide:
            continue
        for source in node.all_input_nodes:
            if spec_of((source, node)) is not None and _dtype((source, node)) == torch.int16:
                set_spec((source, node), activation)


def share_state_scales(graph: Graph) -> None:
    """Gives readers of a state the scale of the value that is written to it, if that has as many bits. A value that has
    none, such as an input, gets the readers'."""
    for write in graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        state: Any = write.args[0]
        value: Any = write.args[1]
        places = [(state, reader) for reader in state.users if reader is not write]
        places = [place for place in places if spec_of(place) is not None]
        if state.op != "get_attr" or not places:
            continue
        if spec_of(value) is None:
            write.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
                input_qspec_map={value: SharedQuantizationSpec(places[0])}, _annotated=True
            )
        leads: Place = value if spec_of(value) is not None else places[0]
        for place in places:
            if _dtype(place) == _dtype(leads):
                _share(place, leads)


def _dtype(place: Place) -> Any:
    return getattr(spec_of(owner_of(place)), "dtype", None)


def _share(place: tuple[Node, Node], other: Place) -> None:
    owners = owner_of(place), owner_of(other)
    fixed = [isinstance(spec_of(owner), FixedQParamsQuantizationSpec) for owner in owners]
    if owners[0] == owners[1] or all(fixed):
        return
    # What has a scale that an operator fixes keeps it.
    follows, leads = owners if fixed[1] or not fixed[0] else reversed(owners)
    set_spec(follows, SharedQuantizationSpec(leads))
