"""How much of a model's work is delegated: `measure`.

Counting nodes misleads. A network of which every view and ReLU is delegated, but no convolution, gains nothing and pays
for crossing the border of each partition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.utils.flop_counter import flop_registry

from ..edge.nodes import (
    DEQUANTIZE,
    DEQUANTIZE_BLOCKS,
    DEQUANTIZE_CHANNEL,
    DEQUANTIZE_GROUPS,
    GETITEM,
    QUANTIZE,
    RESHAPES,
    shape_of,
    target_name,
    tensor,
)
from ..report.delegated_work import Share, Work
from .held_states import states_without_border
from .support import Support

_NO_WORK = frozenset(
    {QUANTIZE, DEQUANTIZE, DEQUANTIZE_CHANNEL, DEQUANTIZE_BLOCKS, DEQUANTIZE_GROUPS, GETITEM, *RESHAPES}
)


def measure(program: ExportedProgram, support: Support) -> Work:
    """Returns the work of an edge program, of which `support` has the partitions."""
    multiplications = operators = Share()
    for node in program.graph.nodes:
        if not _computes(node, support):
            continue
        delegated = node in support.partitions
        operators = operators.plus(1, delegated)
        multiplications = multiplications.plus(multiplications_of(node), delegated)
    calls = set(support.partitions.values())
    return Work(multiplications, operators, len(calls), sum(_border_bytes(program, support)))


def multiplications_of(node: Node) -> int:
    """Returns the multiplications of a layer or matrix product in an edge or ATen program, with those of padding; 0 for
    other nodes."""
    if target_name(node) == "aten.linear.default":
        weight: Node = node.args[1]  # type: ignore[assignment]  # a node in every program
        return math.prod(shape_of(node)) * shape_of(weight)[-1]
    overload = getattr(node.target, "_op", node.target)  # that of an edge operator
    formula = flop_registry.get(getattr(overload, "overloadpacket", None))
    if formula is None:
        return 0
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), tensor)
    return int(formula(*args, **kwargs, out_val=tensor(node))) // 2  # counts multiplications and additions


def _computes(node: Node, support: Support) -> bool:
    """Returns whether `node` is an operator that does more than to convert or rename values."""
    if node.op != "call_function" or support.context.constant_float(node) is not None:
        return False
    if target_name(node) in _NO_WORK:
        return False
    op = support.op(node)
    return op is None or op.computes


def _border_bytes(program: ExportedProgram, support: Support) -> Iterator[int]:
    """Yields the size of each input and of each output of each partition. States that a call holds are neither."""
    constant = support.context.is_constant
    for index in set(support.partitions.values()):
        members = {node for node, partition in support.partitions.items() if partition == index}
        inputs = {x for node in members for x in node.all_input_nodes if x not in members and not constant(x)}
        outputs = {node for node in members if any(user not in members for user in node.users)}
        held = states_without_border(program, members)
        for node in (*(inputs - held), *(outputs - held)):
            value = tensor(node)
            if isinstance(value, torch.Tensor):
                yield value.numel() * value.element_size()
