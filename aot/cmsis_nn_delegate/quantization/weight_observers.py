"""The observers of weights of 4 bits, of which each clips what costs more to represent than to lose."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.observer import (
    AffineQuantizedObserverBase,
    MappingType,
    PerChannelMinMaxObserver,
    PerGroup,
    get_block_size,
)
from torchao.quantization.pt2e.utils import create_getattr_from_value

from .rewriting import evaluated

_CANDIDATES = 40


class ClippingObserver(PerChannelMinMaxObserver):  # type: ignore[misc]  # torchao has no types
    """For each channel c, the scale that rounds its weights with the least squared error:

        scale(c) = argmin over s of sum((w - s * clip(round(w / s), quant_min, quant_max))^2)

    with s = k / 40 * max(|w|) / quant_max for k = 1 to 40. With so few steps that is well below the scale of the
    largest weight, unless all weights are about as large. It sees the weights as they are now: in training, those of
    other steps do not matter. With `gates`, all rows of one of so many equal parts along dimension 0 have one scale."""

    def __init__(self, gates: Optional[int] = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._gates = gates

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if not x_orig.numel():
            return x_orig
        rows = x_orig.detach().transpose(0, self.ch_axis).flatten(1).float()
        count = len(rows)
        if self._gates is not None:
            rows = rows.reshape(self._gates, -1)
        best = clipped(rows, self.quant_min, self.quant_max, float(self.eps))
        limits = best.flatten().repeat_interleave(count // len(best)).to(self.min_val.dtype)
        for buffer, value in ((self.min_val, -limits), (self.max_val, limits)):
            buffer.resize_(value.shape)
            buffer.copy_(value)
        return x_orig


class GroupObserver(AffineQuantizedObserverBase):  # type: ignore[misc]  # torchao has no types
    """The scales of a ClippingObserver for each group of `group` inputs of each row of a weight, [out, in], of which a
    group must be a divisor. `convert` makes a
    `torchao.dequantize_affine` of blocks (1, group) of it."""

    def __init__(self, group: int, dtype: torch.dtype, quant_min: int, quant_max: int, eps: float, **_: Any) -> None:
        super().__init__(
            MappingType.SYMMETRIC, dtype, PerGroup(group), quant_min=quant_min, quant_max=quant_max, eps=eps
        )
        # As PyTorch's observers call them.
        self.dtype, self.ch_axis = dtype, 0
        self._scale = torch.ones(0)

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        self.block_size, self.original_dtype = get_block_size(tuple(weight.shape), self.granularity), weight.dtype
        rows = weight.detach().reshape(-1, self.granularity.group_size).float()
        limits = clipped(rows, self.quant_min, self.quant_max, self.eps)
        self._scale = (limits / self.quant_max).clamp(min=self.eps).reshape(len(weight), -1)
        return weight

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns (float32, integers) [out, groups]: scales, and zero points of 0."""
        return self._scale, torch.zeros_like(self._scale, dtype=self.dtype)

    def rounded(self, weight: torch.Tensor) -> torch.Tensor:
        """Returns `weight` with the numbers that it has once it is quantized."""
        steps, arguments = self._quantized(weight)
        result: torch.Tensor = torch.ops.torchao.dequantize_affine(steps, *arguments)
        return result

    def _quantized(self, weight: torch.Tensor) -> tuple[torch.Tensor, tuple[Any, ...]]:
        """Returns the steps of `weight` and what torchao's operators are given besides."""
        arguments = list(self.block_size), *self.calculate_qparams(), self.dtype, self.quant_min, self.quant_max
        return torch.ops.torchao.quantize_affine(weight.detach(), *arguments), arguments

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        """Quantizes the weight at once: torchao's `convert` leaves that to a constant folding that does not."""
        weight = evaluated(model, observer_node.args[0])
        if weight is None:
            raise ValueError(f"{observer_node.name} observes no constant")
        steps, (block, scales, zeros, *rest) = self._quantized(weight)
        graph = model.graph
        with graph.inserting_before(observer_node):
            constants = [
                create_getattr_from_value(model, graph, f"{observer_node.name}_{name}", value)
                for name, value in (("steps", steps), ("scales", scales), ("zeros", zeros))
            ]
            dequantized = graph.call_function(
                torch.ops.torchao.dequantize_affine.default, (constants[0], block, *constants[1:], *rest)
            )
        dequantized.meta = dict(observer_node.meta)
        observer_node.replace_all_uses_with(dequantized)
        graph.erase_node(observer_node)


class TrainedGroupObserver(GroupObserver):
    """The same for training, always switched on: its results are the numbers that the weights will have, with the
    scales of the weights as they are now. Gradients go to those that are not clipped, as with torchao's
    FakeQuantize."""

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        super().forward(weight)
        limits = (self._scale * (self.quant_max + 0.5)).repeat_interleave(self.granularity.group_size, 1)
        inside = weight.detach().abs() <= limits
        # The difference is 0, and has the gradient.
        result: torch.Tensor = self.rounded(weight) + (weight - weight.detach()) * inside
        return result


def clipped(rows: torch.Tensor, quant_min: int, quant_max: int, eps: float) -> torch.Tensor:
    """Returns [rows, 1]: the limit of each row, quant_max times the scale that rounds it best."""
    most = rows.abs().amax(1, keepdim=True)
    best, least_error = most.clone(), torch.full_like(most, torch.inf)
    for k in range(_CANDIDATES, 0, -1):
        # Of what is wider than needed, the widest: a channel of zeros has no error with any.
        limit = most * (k / _CANDIDATES)
        scale = (limit / quant_max).clamp(min=eps)
        rounded = (rows / scale).round().clamp(quant_min, quant_max) * scale
        error = (rows - rounded).square().sum(1, keepdim=True)
        better = error < least_error
        best, least_error = torch.where(better, limit, best), torch.where(better, error, least_error)
    return best
