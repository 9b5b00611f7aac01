"""Finds softmax of scores that a mask hides parts of, and computes it so that the mask takes no scale from the scores.

Models add minus infinity, or a large negative number, where an element must not count, or fill it in. Quantized, the
scores would share the scale of that number, and lose theirs. With a constant mask it becomes one function of scores and
mask. A mask that is computed of an input is added, after the constant one, as numbers of a range that hides; the sum
gets a scale that fits what counts (`mask_observers`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import torch
from torch.fx import GraphModule, Node

from .mask_observers import DEEPEST, LARGEST_HIDING
from .rewriting import call_for, constant_for, finish
from .specs import EXAMPLE, MASK, MASKED_SCORES, RANGE
from .truth_values import Truths, TwoValued

aten = torch.ops.aten

# Added, it takes the place of any score, as the least float does, and two of them are still finite.
HIDING = -1e30

_SOFTMAX = {aten.softmax.int, aten._softmax.default}
_RESHAPES = {aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.unsqueeze.default}
_QUOTIENTS = {aten.div.Tensor, aten.mul.Tensor}
# Between an input and where it is added to scores.
_MOVES = {*_RESHAPES, aten.expand.default, aten.slice.Tensor, aten.select.int, aten.squeeze.dim, aten.squeeze.default}


class _Masked(NamedTuple):
    """`scores` without their mask, and what of it is constant, a tensor of their shape that says where they are hidden,
    and computed, to be added to the scores."""

    scores: Node
    hidden: Optional[torch.Tensor]
    added: tuple[Node, ...] = ()


def take_masks(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    masks = _Masks(model)
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target in _SOFTMAX:
            masks.take(node)
    finish(model)


def softmax_of_masked(model: GraphModule, node: Node, scores: Node, hidden: torch.Tensor) -> Node:
    """Returns a call that stands for `node`: softmax along the last dimension of the scores that are not `hidden`, a
    mask that can be expanded to their shape. The caller sets the place."""
    value = scores.meta["val"]
    mask = constant_for(model, node, "mask", hidden.expand(value.shape).contiguous())
    return call_for(node, aten._masked_softmax.default, value, scores, mask, value.dim() - 1)


def leaves_some(hidden: torch.Tensor) -> bool:
    """Returns whether in each row something counts: what is left of the others differs from function to function."""
    return not bool(hidden.all(-1).any())


class _Masks:
    """The masks of `model`."""

    def __init__(self, model: GraphModule) -> None:
        self._model = model
        self._truths = Truths(model, floats=True)
        self._hiding: dict[Node, Node] = {}
        self._reshapes: set[Node] = set()  # of masked scores, made here

    def take(self, node: Node) -> None:
        """Rewrites a softmax, if a mask hides some of its scores."""
        arguments: tuple[Any, ...] = node.args
        source, dim = arguments[:2]
        value = source.meta["val"]
        if dim not in (-1, value.dim() - 1) or not all(isinstance(size, int) for size in value.shape):
            return
        with node.graph.inserting_before(node):
            found = self._masked(source, LARGEST_HIDING)
            if found is None:
                _mark_sum(source)
                return
            if found.hidden is not None and not leaves_some(found.hidden):
                return
            scores = self._sum(node, found)
            if found.hidden is None:
                node.replace_input_with(source, scores)
            else:
                node.replace_all_uses_with(softmax_of_masked(self._model, node, scores, found.hidden))

    def _sum(self, node: Node, found: _Masked) -> Node:
        """Returns the scores with the masks that are added to them."""
        scores = found.scores
        for mask in found.added:
            scores = call_for(node, aten.add.Tensor, scores.meta["val"], scores, mask)
            scores.meta[MASKED_SCORES] = True
        return scores

    def _masked(self, node: Any, largest: float) -> Optional[_Masked]:
        """Returns the scores that `node` hides parts of, by numbers of at most `largest`; None if it does not."""
        if not isinstance(node, Node) or node.op != "call_function" or node in self._reshapes:
            return None
        found = self._reshaped(node, largest) or self._scaled(node, largest) or self._filled(node, largest)
        if found is None:
            return None
        inner = self._masked(found.scores, largest)
        if inner is None:
            return found
        hidden = inner.hidden if found.hidden is None else found.hidden
        if inner.hidden is not None and found.hidden is not None:
            hidden = inner.hidden | found.hidden
        return _Masked(inner.scores, hidden, (*inner.added, *found.added))

    def _filled(self, node: Node, largest: float) -> Optional[_Masked]:
        """Of a mask that is added, or says where a number is filled in."""
        arguments: tuple[Any, ...] = node.args
        shape = node.meta["val"].shape
        if node.target is aten.add.Tensor and not node.kwargs:
            for scores, mask in (arguments, arguments[::-1]):
                if not isinstance(scores, Node) or scores.meta["val"].shape != shape:
                    continue
                data = self._truths.data(mask)
                if data is not None and bool((data <= largest).any()):
                    return self._hides(node, scores, data, largest)
                two = None if data is not None else self._truths.of(mask)
                if two is not None and two.false.is_floating_point():
                    found = self._computed(node, scores, two, largest)
                    if found is not None:
                        return found
        if node.target in (aten.masked_fill.Scalar, aten.masked_fill.Tensor):
            scores, mask, fill = arguments
            return self._where(node, scores, mask, True, fill, largest)
        if node.target in (aten.where.self, aten.where.ScalarOther):
            mask, scores, fill = arguments
            return self._where(node, scores, mask, False, fill, largest)
        if node.target is aten.where.ScalarSelf:
            mask, fill, scores = arguments
            return self._where(node, scores, mask, True, fill, largest)
        return None

    def _hides(self, node: Node, scores: Node, data: torch.Tensor, largest: float) -> _Masked:
        """Of an added mask; the numbers in it that do not hide are still added."""
        hidden = data <= largest
        rest = data.masked_fill(hidden, 0.0)
        if bool(rest.any()):
            bias = constant_for(self._model, node, "bias", rest.clone())
            scores = call_for(node, aten.add.Tensor, node.meta["val"], scores, bias)
        return _Masked(scores, hidden.expand(node.meta["val"].shape) if bool(hidden.any()) else None)

    def _where(self, node: Node, scores: Any, mask: Any, when: bool, fill: Any, largest: float) -> Optional[_Masked]:
        """Of `scores` with the number `fill` where `mask` is `when`."""
        if isinstance(fill, Node):
            data = self._truths.data(fill)
            fill = None if data is None or not data.numel() else float(data.max())
        if fill is None or fill > largest:
            return None
        shape = node.meta["val"].shape
        if not isinstance(scores, Node) or scores.meta["val"].shape != shape:
            return None
        chosen = self._truths.data(mask)
        if chosen is not None:
            return _Masked(scores, (chosen == when).expand(shape))
        two = self._truths.of(mask)
        if two is None:
            return None
        sides = [torch.zeros(x.shape).masked_fill(x == when, HIDING) for x in (two.false, two.true)]
        return self._computed(node, scores, TwoValued(two.source, two.places, *sides), LARGEST_HIDING)

    def _computed(self, node: Node, scores: Node, mask: TwoValued, largest: float) -> Optional[_Masked]:
        """Of an added mask that is computed of an input."""
        false, true = mask.false <= largest, mask.true <= largest
        if not bool((false ^ true).any()):
            return None
        for side, other, source in ((false, true, mask.true), (true, false, mask.false)):
            if bool(side.all()) and leaves_some(other.expand(node.meta["val"].shape)):
                # What the other hides is always hidden, so that a constant mask can say it; the rest is of one mind.
                found = self._hides(node, scores, source, largest)
                added = self._added(
                    node, mask, torch.ones_like(side) & (side is false), torch.ones_like(side) & (side is true)
                )
                return None if added is None else found._replace(added=(added,))
        rest = bool(mask.false.masked_fill(false, 0.0).any()) or bool(mask.true.masked_fill(true, 0.0).any())
        added = None if rest else self._added(node, mask, false, true)
        return None if added is None else _Masked(scores, None, (added,))

    def _added(self, node: Node, mask: TwoValued, false: torch.Tensor, true: torch.Tensor) -> Optional[Node]:
        """Returns what to add to scores that are hidden where `false` says so, if the source of the mask is 0, and
        where `true` does, if it is 1."""
        hides = TwoValued(mask.source, mask.places, false.float(), true.float())
        number = self._truths.number(node, hides)
        if number is None:
            return None
        if number not in self._hiding:
            self._hiding[number] = call_for(node, aten.mul.Tensor, number.meta["val"], number, HIDING)
            self._hiding[number].meta[RANGE] = (-DEEPEST, 0.0)
        return self._hiding[number]

    def _reshaped(self, node: Node, largest: float) -> Optional[_Masked]:
        """Of a reshape that keeps the rows of masked scores: the scores are reshaped before they are masked. What is
        added to them is added before."""
        if node.target not in _RESHAPES:
            return None
        value = node.meta["val"]
        source: Any = node.args[0]
        found = self._masked(source, largest)
        if found is None or source.meta["val"].shape[-1:] != value.shape[-1:]:
            return None
        scores = call_for(node, aten.reshape.default, value, self._sum(source, found), list(value.shape))
        self._reshapes.add(scores)
        return _Masked(scores, None if found.hidden is None else found.hidden.reshape(value.shape))

    def _scaled(self, node: Node, largest: float) -> Optional[_Masked]:
        """Of masked scores that are multiplied with or divided by a positive number: they are multiplied before."""
        if node.target not in _QUOTIENTS or len(node.all_input_nodes) != 1:
            return None
        source, number = node.args
        if not isinstance(number, (int, float)) or number <= 0 or not math.isfinite(number):
            return None
        factor = number if node.target is aten.mul.Tensor else 1 / number
        found = self._masked(source, largest / factor)
        if found is None:
            return None
        target: Any = node.target
        return found._replace(scores=call_for(node, target, node.meta["val"], found.scores, number))


def _mark_sum(source: Any) -> None:
    """Marks the sum of scores and an input that is a mask of numbers to add: it is only added, and was exported with 0
    and what hides."""
    while isinstance(source, Node) and source.target in _RESHAPES:
        source = source.args[0]
    if not isinstance(source, Node) or source.target is not aten.add.Tensor or source.kwargs:
        return
    for mask in source.args:
        moves = []
        while isinstance(mask, Node) and mask.target in _MOVES:
            moves.append(mask)
            mask = mask.args[0]
        if isinstance(mask, Node) and mask.op == "placeholder" and _hides_some(mask) and _is_only_added(mask):
            source.meta[MASKED_SCORES] = True
            for node in (*moves, mask):
                node.meta[MASK] = True


def _hides_some(placeholder: Node) -> bool:
    example = placeholder.meta.get(EXAMPLE)
    if not isinstance(example, torch.Tensor):
        return False
    hiding = example <= LARGEST_HIDING
    return bool(hiding.any()) and bool((hiding | (example == 0)).all())


def _is_only_added(value: Node) -> bool:
    """Returns whether all readers of `value`, and of what moves it, are sums."""
    return all(
        user.target is aten.add.Tensor or (user.target in _MOVES and _is_only_added(user)) for user in value.users
    )
