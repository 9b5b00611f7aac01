"""The quantization specs of PT2E that `QuantizationConfig` stands for, with the observers that find their scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
from torchao.quantization.pt2e.fake_quantize import FakeQuantize
from torchao.quantization.pt2e.observer import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import FixedQParamsQuantizationSpec, QuantizationSpec

from ..edge.torch_types import element_of, torch_type
from ..format.element import COMMON_ELEMENT
from ..graph.tensor_type import Element
from .configuration import QuantizationConfig
from .gate_observers import CellObserver, GateObserver
from .headroom import HeadroomObserver
from .histogram import FastHistogramObserver
from .mask_observers import mask_values, masked_scores
from .percentile import PercentileObserver
from .weight_observers import ClippingObserver, GroupObserver, TrainedGroupObserver

# Keys of a node's `meta`, which rewrites of masks set: the range of its result, a pair of floats; whether it computes
# scores of which a mask hides parts; and whether its result is such a mask.
RANGE = "cmsis_nn_range"
MASKED_SCORES = "cmsis_nn_masked_scores"
EXAMPLE = "cmsis_nn_example"  # of an input: the values it was exported with
TRUTH = "cmsis_nn_truth"  # of an input of numbers: it is taken for 0 and 1
MASK = "cmsis_nn_mask"
ELEMENT = "cmsis_nn_element"  # of a function: what it computes in
# Of what torch.cond becomes: a function in a branch; the choice between the branches; and the product that is the
# result of a branch where it is chosen, and else 0.
IN_BRANCH = "cmsis_nn_in_branch"
BRANCHES = "cmsis_nn_branches"
IF_CHOSEN = "cmsis_nn_if_chosen"

# What activations become that nothing else is said of, cells of recurrent layers, and weights.
_ACTIVATION = COMMON_ELEMENT
_CELLS = Element.INT16
_WEIGHT = Element.INT8
_SMALL_WEIGHT = Element.INT4

# By `QuantizationConfig.observer`.
_OBSERVERS: dict[str, Any] = {
    "histogram": FastHistogramObserver,
    "minmax": MinMaxObserver,
    "moving-average": MovingAverageMinMaxObserver,
    "percentile": PercentileObserver,
}

# Smallest scales, of 8 bits. A constant activation must not give a scale that makes the
# requantization factor overflow; a channel whose weights vanish must leave room for
# its bias in 32 bits: |bias| / (s_input * s_weight) < 2^31.
_ACTIVATION_EPS = 2.0**-20
_WEIGHT_EPS = 2.0**-20
# Of constants that activations are added to or multiplied with, which may all be tiny (the scales of residual
# branches are often initialized with 1e-6).
_CONSTANT_EPS = 2.0**-40


class Specs:
    """The same settings give the same object.

    `qat`: for training, where modules compute with quantized numbers, and the scales of activations follow moving
    averages of the ranges, whatever observer is asked for.
    """

    def __init__(self, qat: bool) -> None:
        self._qat = qat
        self._activations: dict[tuple[Any, ...], QuantizationSpec] = {}
        per_tensor = MinMaxObserver.with_args(eps=_WEIGHT_EPS)
        now: dict[str, Any] = {}
        if qat:
            # Of the weights as they are now: the average has one member.
            now = {"averaging_constant": 1.0, "eps": _WEIGHT_EPS}
            per_tensor = FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, **now)
        self._per_channel: list[QuantizationSpec] = []
        self._small: list[QuantizationSpec] = []
        for axis in (0, 1):
            per_channel = PerChannelMinMaxObserver.with_args(eps=_WEIGHT_EPS)
            if qat:  # PT2E gives the axis of the spec to observers, but not to fake quantization
                per_channel = FakeQuantize.with_args(
                    observer=MovingAveragePerChannelMinMaxObserver, ch_axis=axis, **now
                )
            self._per_channel.append(_weight(per_channel, torch.per_channel_symmetric, ch_axis=axis))
            # PT2E gives the axis to observers that are called PerChannel alone.
            clipping = ClippingObserver.with_args(ch_axis=axis, eps=_WEIGHT_EPS)
            if qat:
                clipping = FakeQuantize.with_args(observer=ClippingObserver, ch_axis=axis, eps=_WEIGHT_EPS)
            self._small.append(_weight(clipping, torch.per_channel_symmetric, _SMALL_WEIGHT, ch_axis=axis))
        self.small = self._small[0]
        self._in_groups: dict[int, QuantizationSpec] = {}
        self._per_gate: dict[tuple[int, bool], QuantizationSpec] = {}
        self.cells = _state(CellObserver)
        self.kept_sum = _state(CellObserver.with_args(least=-30, most=15))
        self.unit_state = fixed(1.0 / -_CELLS.low, 0, _CELLS)  # from -1 to 1
        self.per_channel = self._per_channel[0]
        self.per_tensor = _weight(per_tensor, torch.per_tensor_symmetric)

    def table(self, element: Element) -> QuantizationSpec:
        """Returns the spec of a constant table of which rows in `element` are looked up."""
        if ("table", element) not in self._activations:
            eps = _smallest(_ACTIVATION_EPS, element)
            observer = MinMaxObserver.with_args(eps=eps)
            if self._qat:
                # Of all rows: the range of those that were looked up last would clip others.
                observer = FakeQuantize.with_args(observer=MinMaxObserver, eps=eps)
            scheme = torch.per_tensor_symmetric if element.is_symmetric else torch.per_tensor_affine
            self._activations["table", element] = _activation(observer, scheme, element)
        return self._activations["table", element]

    def constant(self, element: Element) -> QuantizationSpec:
        """Returns the spec of a constant that is an operand of a function in `element`."""
        if ("constant", element) not in self._activations:
            # All values are known, so that none is clipped.
            eps = _smallest(_CONSTANT_EPS, element)
            observer = MinMaxObserver.with_args(eps=eps)
            if self._qat:
                observer = FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, averaging_constant=1.0, eps=eps)
            scheme = torch.per_tensor_symmetric if element.is_symmetric else torch.per_tensor_affine
            self._activations["constant", element] = _activation(observer, scheme, element)
        return self._activations["constant", element]

    def activation(
        self,
        config: QuantizationConfig,
        element: Element = _ACTIVATION,
        adapted: Optional[Callable[[Any], Any]] = None,
    ) -> QuantizationSpec:
        """`adapted` makes another class of that of the observer."""
        key = None if self._qat else config.observer, config.activations, element, adapted
        if key not in self._activations:
            name = str(config.observer)
            if name == "histogram" and element is not _ACTIVATION:
                name = "minmax"  # a bin of the histogram is many of its steps, and cuts off as many
            kind = MovingAverageMinMaxObserver if self._qat else _OBSERVERS[name]
            if adapted is not None:
                kind = adapted(kind)
            elif kind is MinMaxObserver and element.bits > _ACTIVATION.bits:
                kind = HeadroomObserver
            eps = _smallest(_ACTIVATION_EPS, element)
            observer = kind.with_args(eps=eps)
            if self._qat:
                observer = FakeQuantize.with_args(observer=kind, eps=eps)
            symmetric = config.activations == "symmetric" or element.is_symmetric
            scheme = torch.per_tensor_symmetric if symmetric else torch.per_tensor_affine
            self._activations[key] = _activation(observer, scheme, element)
        return self._activations[key]

    def masked_scores(self, config: QuantizationConfig) -> QuantizationSpec:
        """Returns the spec of scores of which a mask hides parts."""
        return self.activation(config, adapted=masked_scores)

    def mask(self, config: QuantizationConfig) -> QuantizationSpec:
        """Returns the spec of numbers that are added to scores, some of which hide."""
        return self.activation(config, adapted=mask_values)

    def along(self, axis: int, small: bool = False) -> QuantizationSpec:
        """Returns the spec of a weight, of 4 bits if `small`, with a scale for each index of dimension 0 or 1."""
        return (self._small if small else self._per_channel)[axis]

    def per_gate(self, gates: int, small: bool = False) -> QuantizationSpec:
        """Returns the spec of weights, of 4 bits if they are `small`, of which each of `gates` parts, along dimension
        0, has one scale."""
        if (gates, small) not in self._per_gate:
            kind, element = (ClippingObserver, _SMALL_WEIGHT) if small else (GateObserver, _WEIGHT)
            observer = kind.with_args(gates=gates, eps=_WEIGHT_EPS)
            self._per_gate[gates, small] = _weight(observer, torch.per_channel_symmetric, element, ch_axis=0)
        return self._per_gate[gates, small]

    def in_groups(self, group: int) -> QuantizationSpec:
        """Returns the spec of weights of 4 bits, [out, in], with a scale for each `group` inputs."""
        if group not in self._in_groups:
            kind = TrainedGroupObserver if self._qat else GroupObserver
            observer = kind.with_args(group=group, eps=_WEIGHT_EPS)
            self._in_groups[group] = _weight(observer, torch.per_channel_symmetric, _SMALL_WEIGHT, ch_axis=0)
        return self._in_groups[group]

    def weight(self, config: QuantizationConfig, small: bool = False) -> QuantizationSpec:
        """`small`: whether there is a kernel for weights of 4 bits."""
        if config.weights == "int4" and small:
            return self.small
        return self.per_tensor if config.weights == "per-tensor" else self.per_channel


def fixed(scale: float, zero_point: int, element: Element = _ACTIVATION) -> FixedQParamsQuantizationSpec:
    """Returns the spec of an activation that always has the same parameters."""
    return FixedQParamsQuantizationSpec(
        dtype=torch_type(element),
        scale=scale,
        zero_point=zero_point,
        quant_min=element.low,
        quant_max=element.high,
        qscheme=torch.per_tensor_affine,
    )


def fixed_like(scale: float, zero_point: int, element: Element) -> FixedQParamsQuantizationSpec:
    """Returns the spec of what `scale` and `zero_point` stand for in the common type, but of `element`: what 1/256 and
    -128 are for numbers from 0 to 1, 1/32768 is in int16."""
    if element is _ACTIVATION:
        return fixed(scale, zero_point)
    most = max(zero_point - _ACTIVATION.low, _ACTIVATION.high + 1 - zero_point)
    return fixed(scale * most / (element.high + 1), 0, element)


def fixed_range(
    low: float, high: float, element: Element = _ACTIVATION, symmetric: bool = False
) -> FixedQParamsQuantizationSpec:
    """Returns the spec of an activation with values in [low, high], which contains 0. `symmetric`: with zero point 0,
    as types that have no other have in any case."""
    least, most, smallest = element.low, element.high, _smallest(_ACTIVATION_EPS, element)
    if symmetric or element.is_symmetric:
        return fixed(max(max(-low, high) / most, smallest), 0, element)
    scale = max((high - low) / (most - least), smallest)
    return fixed(scale, max(least, min(most, round(least - low / scale))), element)


def element_of_spec(spec: Any) -> Optional[Element]:
    """Returns the type that a spec of an activation quantizes to; None for other specs."""
    dtype = getattr(spec, "dtype", None)
    found = None if dtype is None else element_of(dtype)
    return found if found is not None and found.is_activation else None


def _smallest(eps: float, element: Element) -> float:
    """Returns the scale of `element` that spans as much as `eps` does in 8 bits."""
    return eps * 2.0 ** (_ACTIVATION.bits - element.bits)


def _activation(observer: Any, scheme: torch.qscheme, element: Element = _ACTIVATION) -> QuantizationSpec:
    return QuantizationSpec(
        dtype=torch_type(element),
        quant_min=element.low,
        quant_max=element.high,
        qscheme=scheme,
        observer_or_fake_quant_ctr=observer,
    )


def _state(observer: Any) -> QuantizationSpec:
    return QuantizationSpec(
        dtype=torch_type(_CELLS),
        quant_min=_CELLS.low,
        quant_max=_CELLS.high,
        qscheme=torch.per_tensor_symmetric,
        observer_or_fake_quant_ctr=observer,
    )


def _weight(observer: Any, scheme: torch.qscheme, element: Element = _WEIGHT, **options: Any) -> QuantizationSpec:
    # PyTorch stores those of 4 bits in 8.
    return QuantizationSpec(
        dtype=torch_type(_WEIGHT),
        quant_min=element.symmetric_low,
        quant_max=element.high,
        qscheme=scheme,
        observer_or_fake_quant_ctr=observer,
        **options,
    )
