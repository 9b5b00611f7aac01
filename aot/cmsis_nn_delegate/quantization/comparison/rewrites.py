"""Step 1: the rewrites before quantization keep the function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Any, NoReturn, Optional

from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from ..in_place import written_buffers
from .running import FLOAT_TOLERANCE, Sample, Values, close, difference, extent, fail, is_float, outputs, run


class Rewrites:
    """The exported module next to the prepared one, both in float."""

    def __init__(self, exported: GraphModule, prepared: GraphModule) -> None:
        self._modules = exported, prepared
        self._twins = _twins(exported, prepared)
        self._results = list(zip(_results(exported), _results(prepared)))
        # Where an index is returned, what it was computed of is compared.
        self._sources = [(a, self._twins[a]) for a in _float_sources(exported) if a in self._twins]

    def compare(self, sample: Sample, where: str, see: Optional[Callable[[Node, Any], None]] = None) -> Values:
        """Runs both and returns the float outputs. `see` is given the values of the prepared module.

        UserError names the first node at which they differ, if what they return does, and the sample as `where`.
        """
        states = [{name: x.clone() for name, x in written_buffers(module).items()} for module in self._modules]
        wanted, floats = self._run(sample, {*map(_returned, self._modules), *chain(*self._sources)}, see)
        pairs = self._compared(wanted, floats)
        apart = next(((a, x, y) for a, x, y in pairs if not _close(x, y)), None)
        if apart is not None:
            for module, state in zip(self._modules, states):
                for name, buffer in written_buffers(module).items():
                    buffer.copy_(state[name])
            self._fail(*self._run(sample), apart, where)
        return wanted

    def _run(
        self,
        sample: Sample,
        wanted: Optional[Collection[Node]] = None,
        see: Optional[Callable[[Node, Any], None]] = None,
    ) -> tuple[Values, Values]:
        exported, prepared = self._modules
        return run(exported, sample, wanted=wanted), run(prepared, sample, see, wanted)

    def _compared(self, wanted: Values, floats: Values) -> Iterator[tuple[Node, Any, Any]]:
        """Yields nodes of the exported module, what they hold, and what those of the prepared one do. Results are as
        they are returned: a tensor may be written in place after its node has computed it."""
        returned = (_returned_values(module, found) for module, found in zip(self._modules, (wanted, floats)))
        for (a, _), x, y in zip(self._results, *returned):
            yield a, x, y
        for a, b in self._sources:
            yield a, wanted[a], floats[b]

    def _fail(self, wanted: Values, floats: Values, last: tuple[Node, Any, Any], where: str) -> NoReturn:
        twins = ((a, wanted[a], floats[b]) for a, b in self._twins.items() if a in wanted and b in floats)
        node, x, y = next((twin for twin in twins if not _close(*twin[1:])), last)
        found = _like(y, x)
        apart = difference(found, x) if found.shape == x.shape else float("nan")
        fail(
            node,
            f"the graph prepared for quantization differs there by {apart:.3g} in float, where its "
            f"values go to {extent(x):.3g}, on {where}",
        )


def _close(wanted: Any, found: Any) -> bool:
    return close(_like(found, wanted), wanted, FLOAT_TOLERANCE)


def _like(value: Any, wanted: Any) -> Any:
    """Returns a tensor in the shape of another one; a sequence that became an image has a dimension of 1 more."""
    if not is_float(value) or not is_float(wanted) or value.shape == wanted.shape:
        return value
    shapes = [[size for size in x.shape if size != 1] for x in (value, wanted)]
    return value.reshape(wanted.shape) if shapes[0] == shapes[1] else value


def _twins(exported: GraphModule, prepared: GraphModule) -> dict[Node, Node]:
    """The nodes of the prepared module that have the values of nodes of the exported one, as far as names
    tell. A batch norm is its convolution, where it was folded into one."""
    known = {node.name for node in exported.graph.nodes}
    origins: dict[str, Node] = {}
    for node in prepared.graph.nodes:
        if node.op == "call_function":
            origins[_origin(node, known)] = node
    twins = {}
    for node in exported.graph.nodes:
        norm = next((user for user in node.users if "batch_norm" in str(user.target)), None)
        if norm is not None and norm.name not in origins:
            if len(node.users) == 1 and node.name in origins:
                twins[norm] = origins[node.name]
        elif node.name in origins and _same_operator(node, origins[node.name]):
            twins[node] = origins[node.name]
    return twins


def _origin(node: Node, known: set[str]) -> str:
    """Returns the oldest name of `node` that is in `known`."""
    name, sources = node.name, node.meta.get("from_node") or ()
    while sources:
        name = sources[-1].name if sources[-1].name in known else name
        sources = sources[-1].from_node
    return name


def _same_operator(a: Node, b: Node) -> bool:
    return a.op == b.op == "call_function" and _base_name(a) == _base_name(b)


def _base_name(node: Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return str(node.target) if schema is None else schema.name.removesuffix("_")


def _results(module: GraphModule) -> list[Node]:
    leaves = pytree.tree_leaves(module.graph.output_node().args[0])
    return [leaf for leaf in leaves if isinstance(leaf, Node)]


def _returned_values(module: GraphModule, values: Values) -> list[Any]:
    """Returns the values of `_results`."""
    leaves = pytree.tree_leaves(module.graph.output_node().args[0])
    return [value for leaf, value in zip(leaves, outputs(values)) if isinstance(leaf, Node)]


def _returned(module: GraphModule) -> Node:
    return module.graph.output_node()


def _float_sources(module: GraphModule) -> Iterator[Node]:
    """The nearest float tensors that results of other types are computed of."""
    pending = [node for node in _results(module) if not is_float(node.meta.get("val"))]
    seen = set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_float(node.meta.get("val")):
            yield node
        else:
            pending += node.all_input_nodes
