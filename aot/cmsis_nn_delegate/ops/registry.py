"""All operators by name.

An operator is found by being a file of this folder with a class derived from `Op` that has a name. Classes without a
name are what several operators have in common.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..graph.ir import Graph, Node
from .op import Op
from .shape_rules import SHAPE_RULES


def _operators() -> dict[str, Op]:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.endswith("_test"):
            importlib.import_module(f"{__package__}.{module.name}")
    found: dict[str, Op] = {}
    for kind in _subclasses(Op):
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


def calls(graph: Graph) -> list[Node]:
    """Returns the nodes of a lowered graph that are kernel calls: all but those that only say where values lie."""
    return [node for node in graph.nodes if not OPS[node.op].only_places]
