"""Step 2: the scales of activations fit what the tensors hold."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import MovingAverageMinMaxObserver

from ...support.errors import UserError
from ..guarded import conditions_of, holds
from ..in_place import constant_nodes, describe
from ..percentile import PercentileObserver
from ..weight_observers import GroupObserver
from .running import by_channels, is_float

_Q = torch.ops.quantized_decomposed
_SQUARED_ERROR_FACTOR = 16.0


class Scales:
    """What the observers of a prepared module found. Observers are known by their call_module nodes."""

    def __init__(self, prepared: GraphModule) -> None:
        self._prepared = prepared
        self._parameters: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def observer(self, node: Node) -> Any:
        """An observer of torchao."""
        return self._prepared.get_submodule(str(node.target))

    def parameters(self, observer: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """(scale, zero point)"""
        if id(observer) not in self._parameters:
            self._parameters[id(observer)] = observer.calculate_qparams()
        return self._parameters[id(observer)]

    def step(self, node: Node, value: torch.Tensor) -> torch.Tensor:
        """The scale for each element of `value`, or one for all."""
        observer = self.observer(node)
        scale = self.parameters(observer)[0]
        axis = getattr(observer, "ch_axis", None)
        if scale.numel() == 1 or axis is None:
            return scale.to(value.dtype).reshape(-1)[:1]
        if scale.dim() == 2:  # of groups
            return scale.to(value.dtype).repeat_interleave(value.shape[1] // scale.shape[1], 1)
        shape = [1] * value.dim()
        shape[axis] = -1
        return scale.to(value.dtype).reshape(shape)

    def rounded(self, node: Node, value: torch.Tensor) -> torch.Tensor:
        """Returns `value`, which the observer sees, rounded as in the quantized module."""
        observer = self.observer(node)
        if isinstance(observer, GroupObserver):
            return observer.rounded(value)
        scale, zero_point = self.parameters(observer)
        limits = observer.quant_min, observer.quant_max, observer.dtype
        if "per_channel" not in str(observer.qscheme):
            arguments = float(scale), int(zero_point), *limits
            result: torch.Tensor = _Q.dequantize_per_tensor(_Q.quantize_per_tensor(value, *arguments), *arguments)
            return result

        def round_part(part: torch.Tensor, *arguments: Any) -> torch.Tensor:
            result: torch.Tensor = _Q.dequantize_per_channel(_Q.quantize_per_channel(part, *arguments), *arguments)
            return result

        return by_channels(round_part, value, scale.float(), zero_point, observer.ch_axis, *limits)


class Fits:
    """Whether the scales of activations fit the tensors."""

    def __init__(self, prepared: GraphModule, scales: Scales) -> None:
        self._scales = scales
        self._constant = constant_nodes(prepared.graph)
        self._sums: dict[int, list[Any]] = {}  # by observer, which several tensors may share
        self._conditions = conditions_of(prepared)  # of branches
        self._in_branches: dict[Node, Any] = {}  # of the sample
        self._truths: dict[Node, Any] = dict.fromkeys(x for found in self._conditions.values() for x in found)

    def see(self, node: Node, value: Any) -> None:
        if node in self._truths:
            self._truths[node] = value
        if node in self._conditions:
            self._in_branches[node] = value.clone()
        elif node.op == "output":
            for observed, held in self._in_branches.items():
                if holds(self._conditions[observed], self._truths):
                    self._see(observed, held)
            self._in_branches.clear()
        else:
            self._see(node, value)

    def _see(self, node: Node, value: Any) -> None:
        if node.op != "call_module" or node.args[0] in self._constant or not is_float(value):
            return
        observer = self._scales.observer(node)
        if not hasattr(observer, "min_val") or not value.numel():
            return  # fixed
        if isinstance(observer, PercentileObserver):
            return  # clips what it is told to, whatever error that makes
        if isinstance(observer, MovingAverageMinMaxObserver):
            return  # averages of the samples' extremes, which tell nothing about how much lies outside
        if hasattr(observer, "counted"):  # of a mask, or what it hides parts of: the rest may be anything
            value = observer.counted(value)
            if not value.numel():
                return
        entry = self._sums.setdefault(id(observer), [0.0, 0, 0.0, 0.0, node, observer])
        entry[0] += float((self._scales.rounded(node, value).double() - value.double()).square().sum())
        entry[1] += value.numel()
        entry[2], entry[3] = min(entry[2], float(value.min())), max(entry[3], float(value.max()))

    def check(self, all_to_seen: float) -> None:
        """UserError names a tensor; `all_to_seen`: samples that observers saw for each of those here."""
        for squares, count, low, high, node, observer in self._sums.values():
            low = min(low, float(observer.min_val.min()) - getattr(observer, "margin", 0.0), 0.0)
            high = max(high, float(observer.max_val.max()), 0.0)
            low, high = (bound * getattr(observer, "headroom", 1.0) for bound in (low, high))
            step = max((high - low) / (observer.quant_max - observer.quant_min), float(observer.eps))
            if squares > _SQUARED_ERROR_FACTOR * all_to_seen * count * step**2 / 12:
                error = (squares / count) ** 0.5
                scale = float(self._scales.parameters(observer)[0])
                raise UserError(
                    f"{describe(node.args[0])}: its values from {low:.3g} to {high:.3g} are quantized in steps of "
                    f"{scale:.3g}, with an error of {error:.3g} (root mean square), where steps of {step:.3g} would "
                    "do: the observer found no scale for this calibration data; try observer='minmax', or check=False "
                    "(--no-check) to compile all the same",
                    exit_code=1,
                )
