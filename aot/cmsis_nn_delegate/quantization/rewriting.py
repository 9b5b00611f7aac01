"""Small steps shared by the rewrites of exported graphs that are not quantized yet."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch
from torch.fx import Graph, GraphModule, Node

from .in_place import is_written


def call_for(node: Node, target: Any, value: torch.Tensor, *arguments: Any) -> Node:
    """Returns a new call that stands for `node` and has a result like `value`; the caller sets the place."""
    call = node.graph.call_function(target, arguments)
    call.meta = dict(node.meta)
    call.meta["val"] = value
    return call


def arguments_of(node: Node) -> list[Any]:
    """Returns all arguments of a call by position, including defaults."""
    overload: Any = node.target
    found = []
    for index, declared in enumerate(overload._schema.arguments):
        if index < len(node.args):
            found.append(node.args[index])
        else:
            found.append(node.kwargs.get(declared.name, declared.default_value))
    return found


def constant_for(model: GraphModule, node: Node, what: str, data: torch.Tensor, trained: bool = False) -> Node:
    """Returns a read of a new parameter or, if it has no floats, buffer, which is named after `node`; the caller sets
    the place."""
    name = f"{node.name}_{what}"
    while hasattr(model, name):
        name += "_"
    if data.is_floating_point():
        model.register_parameter(name, torch.nn.Parameter(data, requires_grad=trained))
    else:
        model.register_buffer(name, data)
    found = node.graph.get_attr(name)
    fake = node.meta["val"][0] if isinstance(node.meta["val"], (list, tuple)) else node.meta["val"]
    found.meta["val"] = fake.new_empty(data.shape, dtype=data.dtype)
    return found


def data_of(model: GraphModule, node: Any) -> Optional[torch.Tensor]:
    """Returns the constant, a parameter or buffer, that `node` reads; None if it is no such node, or reads a state:
    a buffer that the model writes holds something else in each inference."""
    if not isinstance(node, Node) or node.op != "get_attr" or is_written(node):
        return None
    found: Any = operator.attrgetter(str(node.target))(model)
    return found.detach() if isinstance(found, torch.Tensor) else None


def is_only_reader(parameter: Any) -> bool:
    """Returns whether one call alone reads what the node `parameter` reads, under all its names in the graph."""
    same = [node for node in parameter.graph.nodes if node.op == "get_attr" and node.target == parameter.target]
    return sum(len(node.users) for node in same) == 1


def evaluated(model: GraphModule, node: Any) -> Optional[torch.Tensor]:
    """Returns the value of `node` if it is computed from constants alone; None otherwise."""
    if not isinstance(node, Node):
        return None
    if node.op != "call_function":
        return data_of(model, node)
    if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
        return None
    values: dict[Node, torch.Tensor] = {}
    for source in node.all_input_nodes:
        value = evaluated(model, source)
        if value is None:
            return None  # at once: what is read on many ways would be looked at as many times
        values[source] = value
    target: Any = node.target
    arguments = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
    with torch.no_grad():
        found = target(*arguments[0], **arguments[1])
    return found if isinstance(found, torch.Tensor) else None


def inline(node: Node, steps: Graph, sources: Optional[Sequence[Node]] = None) -> list[Node]:
    """Copies the calls of `steps`, which computes what `node` computes from the tensors `sources`, by default those
    that `node` reads, and returns those that compute its results."""
    sources = node.all_input_nodes if sources is None else sources
    placed = dict(zip(steps.find_nodes(op="placeholder"), sources))
    with node.graph.inserting_before(node):
        for step in steps.nodes:
            if step.op == "call_function":
                placed[step] = node.graph.node_copy(step, placed.__getitem__)
                placed[step].meta = {**node.meta, "val": _in_mode_of(sources[0], step.meta["val"])}
    results: Any = steps.output_node().args[0]
    return [placed[result] for result in (results if isinstance(results, (list, tuple)) else [results])]


def _in_mode_of(source: Node, value: Any) -> Any:
    """Returns a value, or several, that can be computed with together with that of `source`: fake tensors of two traces
    cannot."""
    if isinstance(value, (list, tuple)):
        return type(value)(_in_mode_of(source, x) for x in value)
    if not isinstance(value, torch.Tensor):
        return value
    like: torch.Tensor = source.meta["val"]
    return like.new_empty_strided(value.shape, value.stride(), dtype=value.dtype)


class _CallOf(torch.nn.Module):
    """`function` of the arguments of `node`, as a function of its tensors alone."""

    def __init__(self, node: Node, function: Callable[..., Any]) -> None:
        super().__init__()
        self._node, self._function = node, function

    def forward(self, *tensors: torch.Tensor) -> Any:
        values = dict(zip(self._node.all_input_nodes, tensors))
        arguments: Any = torch.fx.node.map_arg(self._node.args, values.__getitem__)
        return self._function(*arguments)


def expand(node: Node, function: Callable[..., Any]) -> list[Node]:
    """Computes `node` as `function` of its arguments does, and returns the nodes of the results. The caller replaces
    `node`."""
    values = (source.meta["val"] for source in node.all_input_nodes)
    tensors = tuple(torch.zeros(value.shape, dtype=value.dtype) for value in values)
    return inline(node, torch.export.export(_CallOf(node, function), tensors).graph)


def finish(model: GraphModule) -> None:
    """Removes what nothing reads any more, and makes the module of the changed graph."""
    model.graph.eliminate_dead_code()
    model.graph.lint()
    model.recompile()
