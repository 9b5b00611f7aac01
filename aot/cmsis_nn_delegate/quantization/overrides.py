"""Applies the overrides of a `Configuration` to the functions of a graph, before rewrites change them.

Every function gets its settings, which the functions that replace it inherit with its `meta`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, Optional

from torch.fx import Graph, GraphModule, Node

from ..edge.naming import COMPUTED_IN_FLOAT, LEFT_IN_FLOAT, computed_in_float, left_in_float
from ..format.element import Element
from ..support.errors import UserError, closest
from .configuration import Configuration, QuantizationConfig
from .in_place import written

_SETTINGS = "cmsis_nn_settings"
_TESTED = "cmsis_nn_tested"


def apply(graph: Graph, configuration: Configuration, moving: Collection[str] = ()) -> None:
    """Gives each function of a program without writes in place its settings. UserError for an override that applies to
    none. Functions in `moving`, which only move or limit values, leave floats that the delegate computes as they are.
    """
    used: set[str] = set()
    calls = [node for node in graph.nodes if node.op == "call_function"]
    for node in calls:
        places = configuration.overrides(str(node.target), module_stack(node))
        used.update(places)
        settings = QuantizationConfig()
        for config in places.values():
            settings = config.over(settings)
        node.meta[_SETTINGS] = settings
        if settings.over(configuration.everywhere).skip:
            where = [place for place, config in places.items() if config.skip]
            # Under this key torch.export and ExecuTorch keep it; operators of edge programs are reported with it.
            node.meta["custom"] = {**node.meta.get("custom", {}), LEFT_IN_FLOAT: where[-1] if where else "everywhere"}
        elif settings.over(configuration.general()).format == Element.FLOAT32.value or _only_moves_floats(node, moving):
            node.meta["custom"] = {**node.meta.get("custom", {}), COMPUTED_IN_FLOAT: True}
    kinds = [kind for node in calls for _, kind in module_stack(node)]
    known = {
        "operator_types": [name for node in calls for name in (str(node.target).split(".")[-2:][0], str(node.target))],
        "module_types": [kind.rsplit(".", 1)[-1] for kind in kinds],
        "module_names": [path for node in calls for path, _ in module_stack(node)],
    }
    for place, names in known.items():
        for name in getattr(configuration, place):
            if f"{place}: {name}" not in used:
                raise UserError(
                    f"{place}: nothing in the model is {name!r}, or it computes nothing of its own (batch norms are "
                    f"part of the layer before them, dropout is removed); {closest(name, names)}"
                )


def _only_moves_floats(node: Node, moving: Collection[str]) -> bool:
    """Returns whether `node` only moves what the delegate computes in float32."""
    sources = node.all_input_nodes
    return str(node.target) in moving and bool(sources) and all(map(computed_in_float, sources))


def settings_of(node: Node) -> QuantizationConfig:
    """Returns what overrides say about a function."""
    found: QuantizationConfig = node.meta.get(_SETTINGS, QuantizationConfig())
    return found


def keep_tested(node: Node) -> None:
    """Makes a function stay in float because a test of whether it is finite reads it."""
    node.meta[_TESTED] = True


def stays_float(node: Node) -> bool:
    """Returns whether a function was asked to stay in float, in the delegate or outside, or has to."""
    return left_in_float(node) is not None or computed_in_float(node) or _TESTED in node.meta


def module_stack(node: Node) -> list[tuple[str, str]]:
    """Returns name and type of the modules that a function is in, from the outermost inwards."""
    found = []
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        # A module that is called again is "layer@1" to torch.export.
        found.append((re.sub(r"@\d+$", "", path), name))
    return found


@contextlib.contextmanager
def hidden_from_rewrites(model: GraphModule) -> Iterator[None]:
    """Inside this context the functions that stay in float have targets that no rewrite knows, so that none of them is
    changed. What the delegate computes of constants alone is left to the rewrites, which compute it."""
    targets: dict[Node, Any] = {}
    constant: set[Node] = set()
    for node in model.graph.nodes:
        if node.op == "get_attr" or (node.op == "call_function" and constant.issuperset(node.all_input_nodes)):
            constant.add(node)
        if node.op != "call_function" or not stays_float(node) or written(node):
            continue
        if node not in constant or left_in_float(node) is not None:
            targets[node] = node.target
            node.target = _same_function(node.target)
    yield
    for node in model.graph.nodes:
        if node in targets:
            node.target = targets[node]
    model.recompile()


def _same_function(target: Any) -> Callable[..., Any]:
    def same(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    return same


def output_of_module(graph: Graph, name: str) -> Optional[Node]:
    """Returns the function that computes the result of a module; None if there is no such module. UserError if it
    returns several tensors."""
    inside = [n for n in graph.nodes if n.op == "call_function" and name in dict(module_stack(n))]
    members = set(inside)
    results = [node for node in inside if any(user not in members for user in node.users)]
    if len(results) > 1:
        raise UserError(f"ranges: {name!r} computes several tensors; name the inner module that computes the one meant")
    return results[0] if results else None
