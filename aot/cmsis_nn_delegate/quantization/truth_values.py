"""Tensors that have one of two values at each place: masks, and what is computed of them.

Masks of attention come into a model as 0 and 1, true and false, and every model computes of them in its own way, with
integers, floats and booleans, what it adds to scores. Whatever it is: at each place the result depends on one element
of the mask, which is 0 or 1, so that it has two values, which are found by computing it for both. `Truths.of` does so,
and `Truths.number` computes the same with floats that kernels exist for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .in_place import written_state
from .rewriting import call_for, constant_for, evaluated
from .specs import EXAMPLE, RANGE, TRUTH

aten = torch.ops.aten

_MOVES = {
    aten.alias.default,
    aten.clone.default,
    aten.contiguous.default,
    aten.expand.default,
    aten.expand_as.default,
    aten.flatten.using_ints,
    aten.index.Tensor,
    aten.permute.default,
    aten.repeat.default,
    aten.reshape.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.view.default,
}
_ANDS = {aten.__and__.Tensor, aten.bitwise_and.Tensor, aten.logical_and.default}
_ORS = {aten.__or__.Tensor, aten.bitwise_or.Tensor, aten.logical_or.default}
_XORS = {aten.__xor__.Tensor, aten.bitwise_xor.Tensor, aten.logical_xor.default}
# True if any or all of several are: the largest or the smallest of 0 and 1.
_REDUCED: dict[Any, Any] = {
    **{getattr(aten.any, overload): aten.amax.default for overload in ("default", "dim", "dims")},
    **{getattr(aten.all, overload): aten.amin.default for overload in ("default", "dim", "dims")},
}
_COMPARISONS = {
    getattr(getattr(aten, name), overload): name
    for name in ("gt", "lt", "ge", "le", "eq", "ne")
    for overload in ("Scalar", "Tensor")
}
_ELEMENTWISE = {
    *_ANDS,
    *_ORS,
    *_XORS,
    *_COMPARISONS,
    aten.signbit.default,
    aten.to.dtype,
    aten._to_copy.default,
    aten.bitwise_not.default,
    aten.logical_not.default,
    aten.add.Tensor,
    aten.add.Scalar,
    aten.sub.Tensor,
    aten.sub.Scalar,
    aten.rsub.Scalar,
    aten.rsub.Tensor,
    aten.mul.Tensor,
    aten.mul.Scalar,
    aten.div.Tensor,
    aten.neg.default,
    aten.abs.default,
    aten.minimum.default,
    aten.maximum.default,
    aten.clamp.default,
    aten.where.self,
    aten.where.Scalar,
    aten.where.ScalarSelf,
    aten.where.ScalarOther,
    aten.masked_fill.Scalar,
    aten.masked_fill.Tensor,
}
# Whose arguments, at this position, count the rows of the argument at the other one.
_LOOK_UPS = {
    aten.embedding.default: (1, 0),
    aten.index_select.default: (2, 0),
    aten.index.Tensor: (1, 0),
    aten.gather.default: (2, 0),
    aten.take.default: (1, 0),
}


@dataclass(frozen=True)
class _Source:
    """Where 0 and 1 come from: `node` if it has floats or booleans, and else `table[node]`."""

    node: Node
    table: tuple[float, ...] = ()


@dataclass(frozen=True)
class TwoValued:
    """A tensor that is `true` where `source` is 1, and `false` where it is 0. `places`, of the shape of the tensor like
    the two others, says which element of the source that is, counted in row-major order."""

    source: _Source
    places: torch.Tensor
    false: torch.Tensor
    true: torch.Tensor


class Truths:
    """What is two-valued in `model`. With `floats` inputs of floats are taken for masks of 0 and 1, too."""

    def __init__(self, model: GraphModule, floats: bool) -> None:
        self._model = model
        self._floats = floats
        self._state = written_state(model.graph)
        self._found: dict[Node, Optional[TwoValued]] = {}
        self._numbers: dict[tuple[Any, ...], Node] = {}

    def data(self, node: Any) -> Optional[torch.Tensor]:
        """Returns the value of `node` if it is constant: the same at each inference; None otherwise."""
        return None if node in self._state else evaluated(self._model, node)

    def of(self, node: Any) -> Optional[TwoValued]:
        """Returns what `node` is; None if it is constant, or not known to be two-valued."""
        if not isinstance(node, Node) or not isinstance(node.meta.get("val"), torch.Tensor):
            return None
        if node not in self._found:
            self._found[node] = None
            self._found[node] = self._find(node)
        return self._found[node]

    def number(self, node: Node, found: TwoValued) -> Optional[Node]:
        """Returns the values of `found` as floats that can be broadcast to its shape, computed in the place of `node`
        by functions that kernels exist for; None if there are none for that."""
        false, true = found.false.float(), found.true.float()
        if not (false.isfinite().all() and true.isfinite().all()):
            return None
        truth = self.truth(node, found)
        ends = _number(false), _number(true)
        if truth is None or ends == (0.0, 1.0):
            return truth
        if ends == (1.0, 0.0):
            return self.opposite(node, truth)
        low, high = ends
        if low is not None and high is not None and 0.0 in ends:
            factor = low or high
            return self._call(node, aten.mul.Tensor, self.opposite(node, truth) if low else truth, factor, values=ends)
        shape = false.shape
        apart, least = (true - false).expand(shape), false.expand(shape)
        result = self._call(node, aten.mul.Tensor, truth, self._constant(node, apart), values=apart)
        if not bool(least.any()):
            return result
        return self._call(node, aten.add.Tensor, result, self._constant(node, least), values=torch.stack((least, true)))

    def truth(self, node: Node, found: TwoValued) -> Optional[Node]:
        """Returns floats, 0 where `found` is false and 1 where it is true, with dimensions of size 1 where it is the
        same along them; None if its places are in another order than those of the source."""
        places = _without_repeats(found.places)
        if not _in_order(places, found.source):
            return None
        source = self._floats_of(node, found.source)
        if found.source.node.op == "placeholder" and found.source.table in ((), (0.0, 1.0)):
            found.source.node.meta[TRUTH] = True
        shape = list(places.shape)
        if list(source.meta["val"].shape) == shape:
            return source
        return self._call(node, aten.reshape.default, source, shape)

    def is_known(self, node: Node) -> bool:
        """Returns whether `truth` has an answer for `node`."""
        found = self.of(node)
        return found is not None and _in_order(_without_repeats(found.places), found.source)

    def opposite(self, node: Node, truth: Node) -> Node:
        """Returns 1 - truth."""
        return self._call(node, aten.rsub.Scalar, truth, 1.0, values=(0.0, 1.0))

    # What is two-valued -----------------------------------------------------

    def _find(self, node: Node) -> Optional[TwoValued]:
        value = node.meta["val"]
        if not all(isinstance(size, int) for size in value.shape) or not value.numel():
            return None
        if node.op == "placeholder":
            return self._input(node)
        if node.op != "call_function" or self.data(node) is not None:
            return None
        if node.target in _MOVES:
            return self._moved(node)
        if node.target in _ELEMENTWISE:
            return self._computed(node) or self._joined(node) or self._table(node) or self._compared(node)
        if node.target in _REDUCED:
            return self._reduced(node)
        return None

    def _input(self, node: Node) -> Optional[TwoValued]:
        value = node.meta["val"]
        if value.dtype in (torch.int64, torch.int32):
            if _rows(node) is not None or not _holds_truths(node):
                return None  # of an index `_table` makes something
            return _two_valued(_Source(node, (0.0, 1.0)), value)
        if value.dtype == torch.bool or (self._floats and value.dtype == torch.float32 and _holds_truths(node)):
            return _two_valued(_Source(node), value)
        return None

    def _moved(self, node: Node) -> Optional[TwoValued]:
        inner = self.of(node.args[0])
        if inner is None:
            return None
        rest, named = self._values((node.args[1:], node.kwargs), {})
        if rest is None:
            return None
        target: Any = node.target
        if target is aten.contiguous.default:
            return inner
        moved = [target(x, *rest, **named) for x in (inner.places, inner.false, inner.true)]
        return TwoValued(inner.source, *moved)

    def _computed(self, node: Node) -> Optional[TwoValued]:
        """Of constants and what is two-valued by the same element of the same source."""
        found = {x: self.of(x) for x in node.all_input_nodes}
        known = [two for two in found.values() if two is not None]
        shape = node.meta["val"].shape
        if not known:
            return None
        first = known[0]
        places = first.places.expand(shape)
        for two in known[1:]:
            if two.source != first.source or not torch.equal(two.places.expand(shape), places):
                return None
        if first.source.table == (0.0, 1.0) and not _is_test(node) and self._compares_with_others(node):
            return None
        results = []
        for side in ("false", "true"):
            given = {x: getattr(two, side) for x, two in found.items() if two is not None}
            args, kwargs = self._values((node.args, node.kwargs), given)
            if args is None:
                return None
            target: Any = node.target
            results.append(target(*args, **kwargs).expand(shape))
        return TwoValued(first.source, places, *results)

    def _compares_with_others(self, node: Node) -> bool:
        """Returns whether integers are compared with others than 0 and 1: then they may be lengths, for example."""
        if node.target not in _COMPARISONS or node.all_input_nodes[0].meta["val"].dtype.is_floating_point:
            return False
        constants = [self.data(x) for x in node.all_input_nodes]
        others = [float(x) for data in constants if data is not None for x in data.reshape(-1)]
        others += [float(x) for x in node.args if isinstance(x, (int, float))]
        return any(x not in (0.0, 1.0) for x in others)

    def _joined(self, node: Node) -> Optional[TwoValued]:
        """Of two that are both true, or of which one is, or only one, at other elements or of other sources."""
        name = _COMPARISONS.get(node.target)
        only_one = node.target in _XORS or name in ("eq", "ne")
        if not only_one and node.target not in (*_ANDS, *_ORS):
            return None
        if any(x.meta["val"].dtype != torch.bool for x in (node, *node.all_input_nodes)):
            return None
        numbers = []
        for operand in node.all_input_nodes:
            two = self.of(operand)
            data = self.data(operand)
            if two is not None:
                numbers.append(self.number(node, two))
            elif data is not None:
                numbers.append(self._constant(node, data.float()))
        if len(numbers) != 2 or None in numbers:
            return None
        if only_one:
            apart = self._call(node, aten.sub.Tensor, *numbers, values=(-1.0, 1.0))
            joined = self._call(node, aten.abs.default, apart, values=(0.0, 1.0))
            joined = self.opposite(node, joined) if name == "eq" else joined
        else:
            target = aten.mul.Tensor if node.target in _ANDS else aten.maximum.default
            joined = self._call(node, target, *numbers, values=(0.0, 1.0))
        places = torch.arange(joined.meta["val"].numel()).reshape(joined.meta["val"].shape)
        return _two_valued(_Source(joined), node.meta["val"], places)

    def _reduced(self, node: Node) -> Optional[TwoValued]:
        """Of any and all."""
        source: Any = node.args[0]
        two = self.of(source)
        if two is None or two.true.dtype != torch.bool:
            return None
        number = self.number(node, two)
        shape = list(two.places.shape)
        if number is None:
            return None
        if list(number.meta["val"].shape) != shape:
            number = self._call(node, aten.expand.default, number, shape)
        given: Any = node.args[1] if len(node.args) > 1 else None
        dims = [given] if isinstance(given, int) else list(given or [])
        keep = bool(node.args[2]) if len(node.args) > 2 else False
        truth = self._call(node, _REDUCED[node.target], number, dims, keep, values=(0.0, 1.0))
        return _two_valued(_Source(truth), node.meta["val"])

    def _table(self, node: Node) -> Optional[TwoValued]:
        """Of a test of an index, as a table of the answers."""
        if node.meta["val"].dtype != torch.bool:
            return None
        chain: list[Node] = []
        source: Any = node
        while isinstance(source, Node) and source.op == "call_function":
            if source.target not in (*_MOVES, *_ELEMENTWISE) or len(source.all_input_nodes) != 1:
                return None
            chain.insert(0, source)
            source = source.all_input_nodes[0]
        rows = _rows(source) if isinstance(source, Node) and source.op == "placeholder" else None
        if rows is None or rows < 2:
            return None
        value = source.meta["val"]
        places, table = torch.arange(value.numel()).reshape(value.shape), torch.arange(rows, dtype=value.dtype)
        for step in chain:
            target: Any = step.target
            if target in _MOVES:
                places = target(places, *step.args[1:], **step.kwargs)
            else:
                answers = dict.fromkeys(step.all_input_nodes, table)
                args, kwargs = torch.fx.node.map_arg((step.args, step.kwargs), answers.__getitem__)
                table = target(*args, **kwargs)
        return _two_valued(_Source(source, tuple(table.float().tolist())), node.meta["val"], places)

    def _compared(self, node: Node) -> Optional[TwoValued]:
        """Of a comparison of floats."""
        x: Any = node.args[0]
        if not isinstance(x, Node) or x.meta["val"].dtype != torch.float32 or node.meta["val"].dtype != torch.bool:
            return None
        other: Any = 0.0 if len(node.args) < 2 else node.args[1]
        if node.target is aten.signbit.default:
            name = "lt"
        elif node.target in (aten.logical_not.default, aten.to.dtype, aten._to_copy.default):
            name = "eq" if node.target is aten.logical_not.default else "ne"
        elif node.target in _COMPARISONS:
            name = _COMPARISONS[node.target]
        else:
            return None
        if isinstance(other, torch.dtype):
            name, other = "ne", 0.0
        if isinstance(other, Node) and (other.meta["val"].dtype != torch.float32 or other.meta["val"].numel() != 1):
            if other.meta["val"].dtype != torch.float32:
                return None
        elif isinstance(other, Node):
            data = self.data(other)
            other = other if data is None else float(data)
        flipped = name in ("lt", "le")
        if other == 0.0 and not flipped:
            apart = x
        elif flipped and not isinstance(other, Node):
            apart = self._call(node, aten.rsub.Scalar, x, other)
        else:
            apart = self._call(node, aten.sub.Tensor, *((other, x) if flipped else (x, other)))
        if name in ("eq", "ne"):
            truth = self._call(node, aten.sign.default, apart)
            truth = self._call(node, aten.abs.default, truth, values=(0.0, 1.0))
            truth = truth if name == "ne" else self.opposite(node, truth)
        else:
            at_zero = self._constant(node, torch.tensor(float(name in ("ge", "le"))))
            truth = self._call(node, aten.heaviside.default, apart, at_zero, values=(0.0, 1.0))
        return _two_valued(_Source(truth), truth.meta["val"].to(torch.bool))

    # Nodes ------------------------------------------------------------------

    def _values(self, arguments: Any, given: dict[Node, torch.Tensor]) -> Any:
        """Returns arguments with the values of nodes: those that are `given`, or constants. (None, None) if another is
        among them."""
        values: dict[Node, torch.Tensor] = dict(given)

        def collect(x: Node) -> Node:
            if x not in values:
                data = self.data(x)
                if data is not None:
                    values[x] = data
            return x

        nodes: list[Node] = []
        torch.fx.node.map_arg(arguments, lambda x: nodes.append(collect(x)))
        if any(x not in values for x in nodes):
            return None, None
        return torch.fx.node.map_arg(arguments, values.__getitem__)

    def _floats_of(self, node: Node, source: _Source) -> Node:
        value = source.node.meta["val"]
        if source.table:
            table = torch.tensor(source.table).reshape(-1, 1)
            key = ("table", source)
            if key not in self._numbers:
                looked_up = call_for(
                    node,
                    aten.embedding.default,
                    value.new_empty((*value.shape, 1), dtype=torch.float32),
                    constant_for(self._model, node, "truths", table),
                    source.node,
                )
                self._numbers[key] = self._call(node, aten.reshape.default, looked_up, list(value.shape))
            return self._numbers[key]
        if value.dtype == torch.float32:
            return source.node
        # Of steps of 1 from 0 on, the bytes of a boolean are the same in int8.
        return self._call(node, aten.to.dtype, source.node, torch.float32, values=(-128.0, 127.0))

    def _call(self, node: Node, target: Any, *arguments: Any, values: Any = None) -> Node:
        """Returns a call in the place of `node`; the same for the same arguments. `values` are what it computes, if
        that is known."""
        key = (target, *(tuple(x) if isinstance(x, list) else x for x in arguments))
        if key not in self._numbers:
            given = [x.meta["val"] if isinstance(x, Node) else x for x in arguments]
            call = call_for(node, target, target(*given), *arguments)
            call.meta.pop(RANGE, None)
            if values is not None:
                numbers = torch.as_tensor(values)
                call.meta[RANGE] = (min(float(numbers.min()), 0.0), max(float(numbers.max()), 0.0))
            self._numbers[key] = call
        return self._numbers[key]

    def _constant(self, node: Node, data: torch.Tensor) -> Node:
        return constant_for(self._model, node, "constant", data.clone().contiguous())


def _two_valued(source: _Source, value: torch.Tensor, places: Optional[torch.Tensor] = None) -> TwoValued:
    """Of a tensor like `value` that is its source: 0 and 1, or false and true."""
    if places is None:
        places = torch.arange(value.numel()).reshape(value.shape)
    places = places.expand(value.shape)
    dtype = value.dtype
    return TwoValued(source, places, torch.zeros(value.shape, dtype=dtype), torch.ones(value.shape, dtype=dtype))


def _without_repeats(places: torch.Tensor) -> torch.Tensor:
    """Returns places with dimensions of size 1 where they are the same along them."""
    for dim in range(places.dim()):
        if bool((places == places.narrow(dim, 0, 1)).all()):
            places = places.narrow(dim, 0, 1)
    return places


def _in_order(places: torch.Tensor, source: _Source) -> bool:
    count = places.numel()
    return count == source.node.meta["val"].numel() and torch.equal(places.reshape(-1), torch.arange(count))


def _holds_truths(placeholder: Node) -> bool:
    """Returns whether an input of numbers was exported with 0 and 1 alone. Compilations check that for all samples."""
    example = placeholder.meta.get(EXAMPLE)
    return isinstance(example, torch.Tensor) and bool(((example == 0) | (example == 1)).all())


def _is_test(node: Node) -> bool:
    return node.target in (aten.to.dtype, aten._to_copy.default)


def _number(data: torch.Tensor) -> Optional[float]:
    """The number that each element is."""
    first = data.reshape(-1)[0]
    return float(first) if bool((data == first).all()) else None


def _rows(placeholder: Node) -> Optional[int]:
    """Returns the rows of the smallest table in which `placeholder` is an index; None if it is none."""
    rows: list[int] = []
    pending = [placeholder]
    seen: set[Node] = set()
    while pending:
        node = pending.pop()
        for user in _new(node.users, seen):
            target: Any = user.target
            where = _LOOK_UPS.get(target)
            if where is not None:
                indices: Any = user.args[where[0]]
                given = indices if isinstance(indices, (list, tuple)) else [indices]
                if any(x is node for x in given):
                    table: Any = user.args[where[1]]
                    rows.append(_indexed(user, table.meta["val"], given, node))
                    continue
            if user.target in _MOVES or user.target in (aten.to.dtype, aten._to_copy.default):
                if not user.meta["val"].dtype.is_floating_point and user.meta["val"].dtype != torch.bool:
                    pending.append(user)
    return min(rows, default=None)


def _indexed(user: Node, table: torch.Tensor, given: Sequence[Any], index: Node) -> int:
    """Returns how many elements or rows of `table` there are that `index` counts."""
    if user.target is aten.take.default:
        return table.numel()
    dim: Any = 0
    if user.target is aten.index.Tensor:
        dim = next(position for position, x in enumerate(given) if x is index)
    elif user.target is not aten.embedding.default:
        dim = user.args[1]
    return int(table.shape[dim])


def _new(nodes: Iterable[Node], seen: set[Node]) -> list[Node]:
    found = [node for node in nodes if node not in seen]
    seen.update(found)
    return found
