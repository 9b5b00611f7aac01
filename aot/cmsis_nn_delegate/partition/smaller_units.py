"""Rewrites an edge program so that its units have few inputs and outputs: see `support`.

A payload has room for few of them, and it is no user's business how many. Nothing here changes what is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.node import map_arg

from ..edge.context import EdgeContext
from ..edge.nodes import DEQUANTIZE, QUANTIZE, RESHAPES, target_name, tensor
from ..ops.registry import OPS


def separate_readers(program: ExportedProgram, nodes: Iterable[Node]) -> bool:
    """Gives each reader of the dequantize nodes among `nodes` a dequantize of its own, and the reshapes in between, and
    joins quantize nodes that compute the same. Returns whether that changed anything.

    What `convert_pt2e` returns is like this; other flows and rewrites may have merged or copied nodes.
    """
    changed = False
    for node in sorted(nodes, reverse=True):
        if target_name(node) == DEQUANTIZE or target_name(node) in RESHAPES:
            # An output of the program keeps its name.
            for reader in sorted(node.users, key=lambda user: user.op != "output")[1:]:
                with program.graph.inserting_after(node):
                    copy = program.graph.node_copy(node)
                reader.replace_input_with(node, copy)
                changed = True
        quantizes = sorted(user for user in node.users if target_name(user) == QUANTIZE)
        for quantize in quantizes[1:]:
            if quantize.args == quantizes[0].args and all(user.op != "output" for user in quantize.users):
                quantize.replace_all_uses_with(quantizes[0])
                program.graph.erase_node(quantize)
                changed = True
    return changed


def nest_concatenations(program: ExportedProgram, nodes: Iterable[Node], most: int, context: EdgeContext) -> bool:
    """Makes each concatenation among `nodes` of more than `most` activations one of concatenations of at most `most` of
    them, which are quantized like these. Returns whether there was one."""
    wide = [
        node
        for node in nodes
        if target_name(node) in OPS["concat"].targets and len(_grouped(_operands(node), most, context)) > 1
    ]
    for node in wide:
        groups = _grouped(_operands(node), most, context)
        while len(groups) > 1:
            operands = [_requantized(node, group) if len(group) > 1 else group[0] for group in groups]
            node.args = (operands, *node.args[1:])
            groups = _grouped(operands, most, context)
    return bool(wide)


def _operands(concat: Node) -> list[Node]:
    found: Any = concat.args[0]
    return list(found)


def _grouped(operands: Sequence[Node], most: int, context: EdgeContext) -> list[list[Node]]:
    """Returns `operands` in groups, in order: of 1 to `most` activations each, and any number of constants."""
    groups: list[list[Node]] = [[]]
    count = 0
    for value in operands:
        is_activation = context.constant_float(value) is None
        if count + is_activation > most:
            groups.append([])
            count = 0
        groups[-1].append(value)
        count += is_activation
    return groups


def _requantized(concat: Node, group: Sequence[Node]) -> Node:
    """Returns a concatenation of some operands of `concat`, with quantize and dequantize: all operands and the result
    have the same scale and zero point."""
    quantize = _quantize_after(concat)
    dequantize = next(node for node in concat.graph.nodes if target_name(node) == DEQUANTIZE)
    part = _call(concat, concat.target, list(group), *concat.args[1:])
    part = _call(concat, quantize.target, part, *quantize.args[1:])
    return _call(concat, dequantize.target, part, *quantize.args[1:])


def _quantize_after(node: Node) -> Node:
    """Returns the quantize of an operator's result, which may be reshaped and limited before."""
    while target_name(node) != QUANTIZE:
        node = next(iter(node.users))
    return node


def _call(concat: Node, target: Any, *arguments: Any) -> Node:
    """Returns a new call before `concat`, which counts as a part of it."""
    with concat.graph.inserting_before(concat):
        call = concat.graph.call_function(target, arguments)
    call.meta = {**concat.meta, "val": target(*map_arg(arguments, tensor))}
    return call
