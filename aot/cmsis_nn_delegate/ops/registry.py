"""All operators by name.

An operator is found by being a file of this folder with a class derived from `Op` that has a name. Classes without a
name are what several operators have in common.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Optional

from ..format.record import Role
from ..graph.ir import Graph, Node, Value
from .op import Op
from .shape_rules import SHAPE_RULES


def _operators() -> dict[str, Op]:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.endswith("_test"):
            importlib.import_module(f"{__package__}.{module.name}")
    found: dict[str, Op] = {}
    for kind in dict.fromkeys(_subclasses(Op)):  # one may be derived in two ways
        if not hasattr(kind, "name") or not kind.__module__.startswith(f"{__package__}."):
            continue  # a base class, or of a test
        if kind.name in found:
            raise ValueError(f"{kind.__module__} and {type(found[kind.name]).__module__} are both called {kind.name}")
        found[kind.name] = kind()
    return dict(sorted(found.items()))


def _subclasses(kind: type[Op]) -> Iterator[type[Op]]:
    for derived in kind.__subclasses__():
        yield derived
        yield from _subclasses(derived)


OPS: Mapping[str, Op] = _operators()
SHAPE_RULES.update(OPS)


def index_range(graph: Graph, value: Value) -> Optional[tuple[int, int]]:
    """Returns the least and the greatest integer that all nodes of `graph` take of its input `value`, as an index or a
    length; None if `value` is neither."""
    found = [OPS[node.op].index_range(node, value) for node in graph.consumers(value)]
    ranges = [limits for limits in found if limits is not None]
    if not ranges:
        return None
    return max(low for low, _ in ranges), min(high for _, high in ranges)


def gives_lengths(graph: Graph, value: Value) -> bool:
    """Returns whether `value` says how many steps each sequence of a node of `graph` has."""
    return any(OPS[node.op].operands(node, Role.INPUT).get("lengths") is value for node in graph.consumers(value))


def calls(graph: Graph) -> list[Node]:
    """Returns the nodes of a lowered graph that are kernel calls: all but those that only say where values lie."""
    return [node for node in graph.nodes if not OPS[node.op].only_places]
