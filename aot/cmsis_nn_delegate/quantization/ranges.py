"""Calibration: runs samples through the observers, and checks the ranges that they found."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from ..edge.naming import source_of
from ..support.errors import UserError
from ..support.finite import flaw
from .guarded import BranchObservers
from .in_place import describe, written_state
from .specs import IF_CHOSEN, IN_BRANCH

aten = torch.ops.aten

# A tensor that goes so far is hardly meant to: 24-bit samples and pixels are far below.
_HUGE = 1e9
_SMALLEST_SCALE = 2.0**-20  # of the quantizer

_PRODUCTS = {aten.mul.Tensor, aten.matmul.default, aten.mm.default, aten.bmm.default, aten.linear.default}
_MOVES = {
    aten.expand.default,
    aten.permute.default,
    aten.reshape.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.squeeze.dim,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.view.default,
}


class Calibration:
    """Shows samples to the observers of a prepared module."""

    def __init__(self, prepared: GraphModule) -> None:
        self._prepared = prepared
        self._branches = BranchObservers(prepared)

    def observe(self, sample: tuple[torch.Tensor, ...], what: str) -> None:
        """UserError names the layer where NaN or infinity arises and then reaches an observer; `what` is the sample,
        for the message."""
        _Observation(self._prepared, self._branches, what).run(*(x.clone() for x in sample))

    def finish(self) -> Ranges:
        """Judges the ranges that the observers found."""
        return _check_ranges(self._prepared, list(self._branches.finish()))


class _Observation(Interpreter):
    def __init__(self, prepared: GraphModule, branches: BranchObservers, what: str) -> None:
        super().__init__(prepared, garbage_collect_values=False)
        self.extra_traceback = False
        self._branches, self._what = branches, what
        self._in_branches: dict[Node, torch.Tensor] = {}  # what was not shown to the observers yet

    def run_node(self, node: Node) -> Any:
        source: Any = node.args[0] if node.args else None
        if node.op == "call_module" and _flaw(self.env[source]):
            self._refuse()
        if node in self._branches.conditions:
            self._in_branches[node] = self.env[source].clone()
            return self.env[source]
        if node.op == "output":
            self._branches.see(self._in_branches, self.env)
        return super().run_node(node)

    def _refuse(self) -> None:
        """The first node whose result is not finite."""
        for node, value in self.env.items():
            found = _flaw(value)
            if not found or node.op == "placeholder" or self._is_mask(node):
                continue
            if node.op == "get_attr":
                raise UserError(
                    f"{node.target} of the model holds {found} once batch norms are folded: check running_var"
                )
            if IN_BRANCH in node.meta:
                advice = (
                    " (both branches of torch.cond are computed, whatever its condition is: limit what the branch "
                    "computes with, such as torch.log(x.clamp(min=0.01)))"
                )
            elif torch.isnan(value).any():
                advice = ""
            else:
                advice = " (mask with a finite number such as -100, not with infinity)"
            raise UserError(
                f"{describe(node)} computes {found} on {self._what}: only finite numbers can be quantized{advice}"
            )

    def _is_mask(self, node: Node) -> bool:
        """An infinite constant, and what comes of it alone."""
        return not torch.isnan(self.env[node]).any() and (
            node.op == "get_attr" and not isinstance(self.env[node], torch.nn.Parameter)
        )


def _flaw(value: Any) -> str:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return ""
    return "" if torch.isfinite(value).all() else flaw(value.detach().numpy())


@dataclass(frozen=True)
class Doubt:
    """A tensor for which the calibration data gives no sensible range, and a sentence about it. `no_range` says that it
    is constant or smaller than the smallest step."""

    node: Node
    sentence: str
    no_range: bool


@dataclass(frozen=True)
class Ranges:
    """What calibration found: `count` is the number of tensors with a range of their own."""

    doubts: tuple[Doubt, ...]
    count: int

    def useless(self) -> str:
        """Returns why the calibration data can hardly be right as a whole, "" if it may be: an input or output has no
        range, or most tensors have none. A single layer without one can be the model's own."""
        without = [doubt for doubt in self.doubts if doubt.no_range]
        border = [doubt for doubt in without if doubt.node.op == "placeholder" or _is_output(doubt.node)]
        if 2 * len(without) <= self.count and not border:
            return ""
        (first, *_) = border or without
        if len(without) == 1:
            return first.sentence
        return f"{len(without)} of {self.count} tensors have no range; {first.sentence}"


def _check_ranges(prepared: GraphModule, never_chosen: Sequence[Node]) -> Ranges:
    doubts: list[Doubt] = []
    seen = set()
    # Of a branch that is never chosen one sentence is enough.
    zero = _always_zero(prepared) | {user for node in never_chosen for user in node.users if IF_CHOSEN in user.meta}
    for node in prepared.graph.nodes:
        if node.op != "call_module" or node.args[0].op == "get_attr":
            continue
        observer = prepared.get_submodule(node.target)
        lows, highs = (getattr(observer, name, None) for name in ("min_val", "max_val"))
        if id(observer) in seen or lows is None or highs is None or lows.numel() != 1 or lows > highs:
            continue
        seen.add(id(observer))
        if node.args[0] in zero:
            continue
        doubts += _doubts(node.args[0], float(lows), float(highs))
    doubts += _branches(never_chosen)
    return Ranges(tuple(doubts), len(seen))


def _always_zero(prepared: GraphModule) -> set[Node]:
    """Returns what is 0 whatever the inputs are, such as the product with an initial state of zeros."""
    state = written_state(prepared.graph)
    zero: set[Node] = set()
    for node in prepared.graph.nodes:
        if node.op == "get_attr":
            data = operator.attrgetter(str(node.target))(prepared)
            if node not in state and isinstance(data, torch.Tensor) and not bool(data.any()):
                zero.add(node)
        elif node.op == "call_module" or node.target in _MOVES:
            if node.args[0] in zero:
                zero.add(node)
        elif node.target in _PRODUCTS and not zero.isdisjoint(node.args[:2]):
            bias: Any = [*node.args[2:], *node.kwargs.values()]
            if all(x in zero for x in bias if isinstance(x, Node)):
                zero.add(node)
    return zero


def _doubts(node: Node, low: float, high: float) -> Iterator[Doubt]:
    name = describe(node)
    if low == high == 0:
        sentence = f"{name} is zero in all of the calibration data: it has no range, and all else is clipped"
        yield Doubt(node, sentence, no_range=True)
    elif low == high:
        sentence = f"{name} is {low:.4g} everywhere in the calibration data: it has no range of its own"
        yield Doubt(node, sentence, no_range=True)
    elif max(-low, high) >= _HUGE:
        sentence = f"{name} goes from {low:.4g} to {high:.4g} in the calibration data: its steps are as coarse"
        if node.op == "placeholder" and -low >= _HUGE:
            sentence += "; give the model a mask as booleans, or as 0 and 1, and let it compute such numbers of that"
        yield Doubt(node, sentence, no_range=False)
    elif max(high, 0.0) - min(low, 0.0) < _SMALLEST_SCALE:
        sentence = (
            f"{name} goes from {low:.4g} to {high:.4g} in the calibration data, less than the smallest "
            f"step, {_SMALLEST_SCALE:.4g}: it becomes zero"
        )
        yield Doubt(node, sentence, no_range=True)


def _branches(never_chosen: Sequence[Node]) -> Iterator[Doubt]:
    """Doubts about branches of torch.cond, one for each line of the model."""
    lines: dict[str, Node] = {}
    for observed in never_chosen:
        node: Any = observed.args[0]
        lines.setdefault(str(source_of(node) or node.name), node)
    for line, node in lines.items():
        yield Doubt(
            node,
            f"{describe(node)} at {line} is in a branch of torch.cond that is never chosen in the calibration data: "
            "its result has no range of its own, and is clipped; give samples for which it is chosen",
            no_range=True,
        )


def _is_output(node: Node) -> bool:
    """Whether `node` is returned, through its observer or not."""
    users = [*node.users, *(user for observer in node.users if observer.op == "call_module" for user in observer.users)]
    return any(user.op == "output" for user in users)
