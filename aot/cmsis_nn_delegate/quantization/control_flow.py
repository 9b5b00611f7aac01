"""Computes branches and loops of torch.export as part of the graph around them, which is quantized and delegated whole.

    cond        both branches are computed, and torch.where chooses: the kernels of a payload run in one order
    while_loop  the body, as often as it runs: its condition must depend on constants alone, such as a counter
    scan, map   the body for each element of the first dimension

ExecuTorch would run the bodies in float. It has no while_loop, and its scan (1.5.1) computes something else for some
bodies, such as one with a linear layer of what it carries, so that one of these that stays is an error. A longer map
stays as it is.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import torch
from torch.fx import Graph, GraphModule, Node

from ..edge.naming import source_of
from ..support.errors import UserError
from .in_place import describe
from .rewriting import evaluated
from .specs import BRANCHES, IN_BRANCH

aten = torch.ops.aten
_higher = torch.ops.higher_order

# A payload lists the calls of all turns of a loop.
MOST_TURNS = 64
_MOST_CALLS = 2048


def inline_control_flow(model: GraphModule) -> bool:
    """Rewrites `model`, which is not quantized yet, as the module docstring says. Returns whether there was anything to
    rewrite.

    UserError for a while_loop or scan that runs more than `MOST_TURNS` times, and for a while_loop that runs as often
    as an inference decides."""
    changed = False
    pending = True
    while pending:  # bodies may contain others
        pending = False
        for node in list(model.graph.nodes):
            if node.op != "call_function" or node.target not in _INLINED:
                continue
            with model.graph.inserting_before(node):
                results = _INLINED[node.target](model, node)
            if results is not None:
                _replace(node, results)
                changed = pending = True
    if changed:
        model.graph.eliminate_dead_code()
        model.delete_all_unused_submodules()
        model.graph.lint()
        model.recompile()
    return changed


def _replace(node: Node, results: Sequence[Any]) -> None:
    for user in list(node.users):
        if user.target is not operator.getitem:
            raise UserError(f"{describe(user)} reads all results of {node.name} at once: read them one by one")
        user.replace_all_uses_with(results[user.args[1]])  # type: ignore[index]  # a number
        node.graph.erase_node(user)
    node.graph.erase_node(node)


# The kinds. Each returns the results, or None if the node stays ---------------------------------------------


def _cond(model: GraphModule, node: Node) -> Optional[list[Any]]:
    arguments: tuple[Any, ...] = node.args
    condition, *branches, operands = arguments
    if not isinstance(condition, Node):
        return _copied(model, node, branches[0 if condition else 1], operands)
    known = evaluated(model, condition)
    if known is not None:
        return _copied(model, node, branches[0 if bool(known) else 1], operands)
    found: list[Any] = []
    node.meta[IN_BRANCH] = True  # the copies inherit it
    results = [_copied(model, node, branch, operands) for branch in branches]
    for a, b, value in zip(*results, node.meta["val"]):
        if a is None:
            found.append(None)
            continue
        chosen = node.graph.call_function(aten.where.self, (_of_rank(condition, value), a, b))
        chosen.meta = {**node.meta, "val": value, BRANCHES: True}
        found.append(chosen)
    return found


def _of_rank(condition: Node, value: torch.Tensor) -> Node:
    """Returns a condition that makes the result of torch.where no larger than `value`."""
    shape = condition.meta["val"].shape
    if len(shape) <= value.dim():
        return condition
    number = condition.graph.call_function(aten.reshape.default, (condition, []))
    number.meta = {**condition.meta, "val": condition.meta["val"].reshape([])}
    return number


def _while_loop(model: GraphModule, node: Node) -> list[Any]:
    arguments: tuple[Any, ...] = node.args
    condition, body, carried, additional = arguments
    test, step = _module_of(model, condition), _module_of(model, body)
    values, fixed = list(carried), list(additional)
    known = [_known(model, value) for value in (*values, *fixed)]
    for turn in range(MOST_TURNS + 1):
        (goes_on,) = _partly(test.graph, known)
        if goes_on is None:
            raise UserError(
                f"{describe(node)}{_line(node)} is a while_loop whose condition depends on values that only an "
                "inference knows, and ExecuTorch has no kernel for while_loop: write a for loop that always runs as "
                "often as the longest one, and keep its last results with torch.where(condition, new, old)"
            )
        if not bool(goes_on):
            return values
        if turn == MOST_TURNS or (turn + 1) * len(step.graph.nodes) > _MOST_CALLS:
            break
        values = _copied(model, node, body, [*values, *fixed])
        known[: len(values)] = _partly(step.graph, known)
    raise UserError(
        f"{describe(node)}{_line(node)} is a while_loop that is unrolled, and more than {turn} turns are too many: a "
        "payload lists the calls of all of them, and ExecuTorch has no kernel for while_loop. Let the application "
        "call the model for one turn, with what it carries as state"
    )


def _scan(model: GraphModule, node: Node) -> list[Any]:
    arguments: tuple[Any, ...] = node.args
    body, carried, sequences, additional = arguments
    turns = _turns(model, body, sequences)
    size = _length(sequences)
    if not size:
        what = "no elements" if size == 0 else "a number of elements that is not known"
        raise UserError(
            f"{describe(node)}{_line(node)} is a scan over {what}: a payload lists the calls of all turns, so that it "
            "needs a fixed number of them, at least one: export the model with static shapes that have elements"
        )
    if turns is None:
        raise UserError(
            f"{describe(node)}{_line(node)} is a scan over more than {MOST_TURNS} elements, or with too many calls "
            f"in total ({_MOST_CALLS}): a payload lists the calls of all turns, and ExecuTorch's scan is wrong for "
            "some bodies. Let the application call the model for a part of the sequence, with what it carries as "
            "state; for sums write cumsum, and for layers nn.GRU, nn.LSTM or nn.RNN"
        )
    values, rows = list(carried), []
    for turn in range(turns):
        elements = [_select(x, turn) for x in sequences]
        results = _copied(model, node, body, [*values, *elements, *additional])
        values, row = results[: len(values)], results[len(values) :]
        rows.append(row)
    stacked = zip(*rows), node.meta["val"][len(values) :]
    return [*values, *(_stack(column, value) for column, value in zip(*stacked))]


def _map(model: GraphModule, node: Node) -> Optional[list[Any]]:
    arguments: tuple[Any, ...] = node.args
    body, sequences, additional = arguments
    turns = _turns(model, body, sequences)
    if turns is None:
        return None
    rows = [_copied(model, node, body, [*(_select(x, turn) for x in sequences), *additional]) for turn in range(turns)]
    return [_stack(column, value) for column, value in zip(zip(*rows), node.meta["val"])]


_INLINED: dict[Any, Any] = {
    _higher.cond: _cond,
    _higher.while_loop: _while_loop,
    _higher.scan: _scan,
    _higher.map_impl: _map,
}


# What they share --------------------------------------------------------------------------------------------


def _turns(model: GraphModule, body: Node, sequences: Sequence[Node]) -> Optional[int]:
    """Returns how often a body runs over `sequences`; None if that is too often, or not known."""
    size = _length(sequences)
    if size is None or not 0 < size <= MOST_TURNS:
        return None
    return size if size * len(_module_of(model, body).graph.nodes) <= _MOST_CALLS else None


def _length(sequences: Sequence[Node]) -> Optional[int]:
    """Returns the number of elements of `sequences`; None if it is not known."""
    size = sequences[0].meta["val"].shape[0] if sequences else None
    return size if isinstance(size, int) else None


def _select(x: Node, index: int) -> Node:
    part = x.graph.call_function(aten.select.int, (x, 0, index))
    part.meta = {**x.meta, "val": x.meta["val"].select(0, index)}
    return part


def _stack(rows: Sequence[Node], value: torch.Tensor) -> Node:
    stacked = rows[0].graph.call_function(aten.stack.default, (list(rows), 0))
    stacked.meta = {**rows[0].meta, "val": value}
    return stacked


def _module_of(model: GraphModule, body: Node) -> GraphModule:
    module: GraphModule = operator.attrgetter(str(body.target))(model)
    return module


def _copied(model: GraphModule, node: Node, body: Node, operands: Sequence[Any]) -> list[Any]:
    """Copies the calls of a body, given its operands, to before `node`, and returns its results."""
    steps = _module_of(model, body).graph
    placed: dict[Node, Any] = dict(zip(steps.find_nodes(op="placeholder"), operands))
    for step in steps.nodes:
        if step.op == "get_attr":  # a body in the body
            placed[step] = node.graph.get_attr(f"{body.target}.{step.target}")
            placed[step].meta = dict(step.meta)
        elif step.op == "call_function":
            placed[step] = node.graph.node_copy(step, lambda x: placed[x])
            placed[step].meta = {**node.meta, **step.meta}
    return [placed[x] if isinstance(x, Node) else x for x in _results(steps)]


def _results(steps: Graph) -> list[Any]:
    results: Any = steps.output_node().args[0]
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _known(model: GraphModule, value: Any) -> Any:
    return evaluated(model, value) if isinstance(value, Node) else value


def _partly(steps: Graph, operands: Sequence[Any]) -> list[Any]:
    """Computes the results of a body as far as the operands, None for each that is not known, say them."""
    values: dict[Node, Any] = dict(zip(steps.find_nodes(op="placeholder"), operands))
    for step in steps.nodes:
        if step.op == "call_function":
            values[step] = _computed(step, values)
    return [values.get(x) if isinstance(x, Node) else x for x in _results(steps)]


def _computed(step: Node, values: Mapping[Node, Any]) -> Any:
    target: Any = step.target
    if any(values.get(source) is None for source in step.all_input_nodes):
        return None
    if torch.Tag.nondeterministic_seeded in getattr(target, "tags", ()):
        return None
    args, kwargs = torch.fx.node.map_arg((step.args, step.kwargs), values.__getitem__)
    with torch.no_grad():
        return target(*args, **kwargs)


def _line(node: Node) -> str:
    """Returns where the model's author wrote `node`, as " at model.py:3", if that is known."""
    source = source_of(node)
    return f" at {source}" if source else ""
