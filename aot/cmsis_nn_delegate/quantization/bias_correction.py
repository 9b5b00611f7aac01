"""Bias correction: rounding weights and activations shifts the mean of each output channel of a layer; the bias of the
layer takes the shift back.

The shift is measured on samples: mean of the float layer - mean of the quantized layer, for each channel, over samples,
rows and positions. Layers are corrected in the order in which they run, so that each reads what the corrected layers
before it compute (the empirical correction of Nagel et al., Data-Free Quantization Through Weight Equalization and Bias
Correction, 2019, appendix D).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Interpreter, Node

from ..support.errors import UserError
from .in_place import describe, written_state
from .rewriting import constant_for, data_of, finish, is_only_reader

aten = torch.ops.aten
_Q = torch.ops.quantized_decomposed

# With the dimension of the channels of their results.
_LAYERS = {
    aten.conv1d.default: 1,
    aten.conv2d.default: 1,
    aten.conv_transpose2d.input: 1,
    aten.linear.default: -1,
}
_LARGEST = 2**31 - 128  # that float32 has


def give_biases(model: GraphModule) -> None:
    """Gives each layer with weights a bias, zeros if it has none, before it is quantized."""
    for layer in list(model.graph.nodes):
        if layer.op != "call_function" or layer.target not in _LAYERS or [*layer.args, None][2] is not None:
            continue
        value = layer.meta["val"]
        with layer.graph.inserting_before(layer):
            zeros = constant_for(model, layer, "bias", torch.zeros(value.shape[_LAYERS[layer.target]]))
        layer.args = (*layer.args[:2], zeros, *layer.args[3:])
    finish(model)


def correct_biases(prepared: GraphModule, converted: GraphModule, samples: Sequence[tuple[torch.Tensor, ...]]) -> None:
    """Changes the biases of the quantized module `converted`. `prepared` is the calibrated module that it was made of,
    and stays as it is. Takes memory for the live tensors of all samples.

    UserError for a model that keeps a state, in which samples are not independent.
    """
    for node in written_state(prepared.graph):
        raise UserError(f"bias correction is impossible: the model keeps a state, {describe(node)}")
    means = _FloatMeans(prepared, {layer.name for layer in _layers(converted)})
    with torch.no_grad():
        for sample in samples:
            means.run(*sample)
        _correct(converted, samples, {name: total / len(samples) for name, total in means.totals.items()})


def _layers(converted: GraphModule) -> list[Node]:
    return [node for node in converted.graph.nodes if node.op == "call_function" and node.target in _LAYERS]


def _mean(value: torch.Tensor, layer: Node) -> torch.Tensor:
    target: Any = layer.target
    channels = _LAYERS[target] % value.dim()
    return value.double().mean([d for d in range(value.dim()) if d != channels])


class _FloatMeans(Interpreter):
    """Adds up the means of layers over samples, by their names."""

    def __init__(self, prepared: GraphModule, layers: set[str]) -> None:
        super().__init__(prepared)
        self.totals: dict[str, torch.Tensor] = {}
        self._layers = layers

    def run_node(self, node: Node) -> Any:
        if node.op == "call_module":  # an observer, which has seen enough
            source: Any = node.args[0]
            return self.env[source]
        value = super().run_node(node)
        if node.name in self._layers:
            self.totals[node.name] = self.totals.get(node.name, 0.0) + _mean(value, node)
        return value


def _correct(
    converted: GraphModule, samples: Sequence[tuple[torch.Tensor, ...]], means: dict[str, torch.Tensor]
) -> None:
    """Runs the module on all samples at once, node by node, and corrects each layer before others read it."""
    last_reader = {source: node for node in converted.graph.nodes for source in node.all_input_nodes}
    runs = [Interpreter(converted, garbage_collect_values=False) for _ in samples]
    for run, sample in zip(runs, samples):
        run.args_iter = iter(converted.graph.process_inputs(*sample))
    for node in converted.graph.nodes:
        if node.op == "output":
            return
        for run in runs:
            run.env[node] = run.run_node(node)
        sources = node.all_input_nodes
        if node.op == "call_function" and node.target in _LAYERS and node.name in means:
            found = sum(_mean(run.env[node], node) for run in runs) / len(runs)
            change = _change_bias(converted, node, means[node.name] - found)
            if change is not None:
                shape = [1] * runs[0].env[node].dim()
                shape[_LAYERS[node.target]] = -1
                for run in runs:
                    run.env[node] = run.env[node] + change.reshape(shape)
        for source in sources:
            if last_reader[source] is node:
                for run in runs:
                    del run.env[source]


def _change_bias(converted: GraphModule, layer: Node, shift: torch.Tensor) -> Optional[torch.Tensor]:
    """Adds `shift` to the bias, in its steps if it has any. Returns by how much it changed; None if it has no bias."""
    dequantize: Any = [*layer.args, None][2]
    if dequantize is not None and dequantize.op == "get_attr":
        # That of weights in groups, which the compiler quantizes. The float model may have it, too.
        values = data_of(converted, dequantize)
        if values is None or "torchao" not in str(layer.all_input_nodes[1].target):
            return None
        with layer.graph.inserting_before(layer):
            layer.update_arg(2, constant_for(converted, layer, "bias", values + shift.to(values.dtype)))
        converted.recompile()
        return shift.float()
    if dequantize is None or dequantize.target not in (
        _Q.dequantize_per_channel.default,
        _Q.dequantize_per_tensor.default,
    ):
        return None
    steps, scale = data_of(converted, dequantize.args[0]), dequantize.args[1]
    if steps is None or not is_only_reader(dequantize.args[0]):
        return None
    if isinstance(scale, Node):
        scale = data_of(converted, scale)
    changed = (steps + (shift / scale).round()).clamp(-_LARGEST, _LARGEST)
    change = (changed - steps) * scale
    steps.copy_(changed)
    result: torch.Tensor = change.float()
    return result
