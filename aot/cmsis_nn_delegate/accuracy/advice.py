"""What to try about a layer that costs accuracy: `proposals`. Each is something that this compiler offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torchao.quantization.pt2e.observer import HistogramObserver

from ..edge.naming import module_of
from ..edge.nodes import target_name
from ..pipeline import Compilation
from ..quantization.comparison.layer_noise import LayerNoise
from .format_gains import FormatGains

_CLIPPED = 1e-4  # the share of numbers outside of the range from which clipping shows in the outputs
_FEW_LEVELS = 0.25
_OUTLIERS = 1.5  # how much wider the calibrated range is than that of the data, if outliers in the former set it
_FEW_SAMPLES = 32
_MOST = 0.3  # the share of the noise of all layers from which it is worth to leave a layer in float
_RELU6 = 6.0
_SPREAD = 8.0  # of the weights of channels, from which the small ones lose 3 of 8 bits if they share a scale
_SHIFTED = 0.25  # of the noise


def proposals(layer: LayerNoise, share: float, compilation: Compilation, gains: FormatGains) -> Iterator[str]:
    """Yields sentences, the most promising first. `share` is that of the layer in the noise of all."""
    observers, weights = (
        [compilation.prepared.get_submodule(str(node.target)) for node in nodes]
        for nodes in (layer.observers, layer.weights)
    )
    if layer.calibrated is not None and layer.saturation > _CLIPPED:
        low, high = layer.calibrated
        if layer.low < low or layer.high > high:
            count = compilation.samples.count
            few = f", which has only {count}" if count < _FEW_SAMPLES else ""
            yield (
                f"{100 * layer.saturation:.2g} % of its numbers are clipped: they go from {layer.low:.4g} to "
                f"{layer.high:.4g}, and in the calibration data from {low:.4g} to {high:.4g}. Add such samples to the "
                f"calibration data{few}"
            )
        elif any(isinstance(observer, HistogramObserver) for observer in observers):
            yield (
                f"{100 * layer.saturation:.2g} % of its numbers are clipped, which the observer chose for the sake of "
                "the others: --observer minmax clips nothing that the calibration data contains"
            )
    if layer.calibrated is not None and layer.levels_used < _FEW_LEVELS:
        yield from _wide_range(layer)
    if layer.weights_cost > layer.cost / 2:
        if any("embedding" in target_name(user) for node in layer.weights for user in node.users):
            yield (
                "its noise is that of its table, which has one scale: training with quantization (prepare_qat_pt2e, "
                "CmsisNnQuantizer(qat=True)) adapts it, and rows far larger than the others make the scale coarse"
            )
        # Biases, which have one scale with such weights only, are int32.
        elif any(observer.dtype != torch.int32 and "per_tensor" in str(observer.qscheme) for observer in weights):
            yield "its noise is that of weights with one scale: --linear-weights per-channel gives each output its own"
        else:
            yield (
                "its noise is that of weights, which have a scale for each channel already: training with quantization "
                "(prepare_qat_pt2e, CmsisNnQuantizer(qat=True)) adapts them"
            )
    yield from gains.sentences(layer)
    configuration = compilation.options.quantizer.configuration
    spread = max(map(_spread, weights), default=1.0)
    is_read = any(user.op == "call_function" for observer in layer.observers for user in observer.users)
    if is_read and spread > _SPREAD and configuration.equalization is None:
        yield (
            f"its weights differ between channels: those of the largest are {spread:.0f} times those of the median "
            "one, and so its channels differ, which share a scale. Cross-layer equalization can even them out: "
            "--quantizer with a file that has `equalization: relu`"
        )
    if layer.weights and layer.shift > _SHIFTED and not configuration.corrects_biases:
        yield (
            f"{100 * layer.shift:.0f} % of its noise is a shift of the means of its channels, which biases can take "
            "back: --quantizer with a file that has `bias_correction: true`"
        )
    path = module_of(layer.node).partition(" ")[0]
    if share > _MOST and path:
        yield (
            f"left in float it adds no noise, and costs time: --quantizer with a file that has {path}: {{skip: true}} "
            "under module_names"
        )


def _spread(observer: Any) -> float:
    """How many times the median channel's largest weight that of all channels is."""
    lows, highs = getattr(observer, "min_val", None), getattr(observer, "max_val", None)
    if lows is None or highs is None or lows.numel() < 2:
        return 1.0
    largest = torch.maximum(-lows, highs)
    largest = largest[largest > 0]
    return float(largest.max() / largest.median()) if largest.numel() else 1.0


def _wide_range(layer: LayerNoise) -> Iterator[str]:
    """A range that few numbers fill: a function that bounds them makes the steps finer."""
    assert layer.calibrated is not None
    low, high = layer.calibrated
    used = f"its numbers use {100 * layer.levels_used:.0f} % of the {len(layer.levels)} levels"
    if target_name(layer.node) == "aten.relu.default" and high > _RELU6:
        yield f"{used}, as calibration data goes up to {high:.4g}: nn.ReLU6 in place of nn.ReLU bounds them"
    elif high - low > _OUTLIERS * (layer.high - layer.low):
        yield (
            f"{used}: calibration data goes from {low:.4g} to {high:.4g}, and this data only from {layer.low:.4g} to "
            f"{layer.high:.4g}. Leave samples with outliers out of the calibration data"
        )
