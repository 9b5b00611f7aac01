"""Cross-layer equalization: moves factors of channels from one layer into the next, so that the channels of a layer
have similar ranges. Then one scale for all of them (of an activation, or of weights per tensor) is less coarse for
each.

For layers y = f(W1 x + b1) and z = W2 y + b2 with f(s v) = s f(v) for s > 0, which holds for relu, leaky relu and no
function at all, the output channel i of the first layer is divided by s_i = sqrt(r1_i / r2_i), and the input channel i
of the second multiplied by it: both then have the range sqrt(r1_i r2_i), where r1_i and r2_i are the largest weights of
that channel (Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, 2019, section 4.1).
The factors are rounded to powers of two, so that the results of the float model do not change by a single bit.

relu6 does not have this property: it would limit the channel at 6 instead of 6 / s_i. With "relu6" it is replaced by
relu all the same, which gives other results where the model goes beyond 6; the comparison with the float model then
says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import torch
from torch.fx import GraphModule, Node

from .rewriting import constant_for, data_of, finish, is_only_reader

aten = torch.ops.aten

_ROUNDS = 20
_LAYERS = {aten.conv1d.default, aten.conv2d.default, aten.linear.default}
_HOMOGENEOUS = {aten.relu.default, aten.leaky_relu.default}


class _Pair(NamedTuple):
    first: Node
    second: Node
    relu6: Optional[Node]


def equalize(model: GraphModule, relu6: bool = False) -> None:
    """Rewrites the layers of a float module that are read by one other layer. Layers that share parameters stay as they
    are."""
    pairs = [pair for node in model.graph.nodes if (pair := _pair(model, node, relu6)) is not None]
    layers = {layer: _Parameters(model, layer) for pair in pairs for layer in pair[:2]}
    for _ in range(_ROUNDS):
        changed = [_equalize(layers[pair.first], layers[pair.second]) for pair in pairs]
        if not any(changed):
            break
    for layer, parameters in layers.items():
        parameters.write(model, layer)
    for pair in pairs:
        if pair.relu6 is not None:
            pair.relu6.target = aten.relu.default
            pair.relu6.args = pair.relu6.args[:1]
    finish(model)


class _Parameters:
    """Weight and bias of a layer while they are changed."""

    def __init__(self, model: GraphModule, layer: Node) -> None:
        weight, bias = (data_of(model, argument) for argument in (*layer.args[1:3], None)[:2])
        assert weight is not None
        self.weight = weight.clone()
        self.bias = None if bias is None else bias.clone()
        linear = layer.target is aten.linear.default
        self.groups = 1 if linear else _groups(layer)

    def of_outputs(self) -> torch.Tensor:
        """The largest weight of each output channel."""
        return self.weight.abs().flatten(1).amax(1)

    def of_inputs(self) -> torch.Tensor:
        """The largest weight of each input channel."""
        grouped = self._grouped().abs()
        return grouped.flatten(3).amax((1, 3)).flatten()

    def divide_outputs(self, factors: torch.Tensor) -> None:
        self.weight /= factors.reshape(-1, *[1] * (self.weight.dim() - 1))
        if self.bias is not None:
            self.bias /= factors

    def multiply_inputs(self, factors: torch.Tensor) -> None:
        grouped = self._grouped()
        grouped *= factors.reshape(self.groups, 1, -1, 1)

    def _grouped(self) -> torch.Tensor:
        """A view [groups, out / groups, in / groups, positions]."""
        return self.weight.view(self.groups, -1, self.weight.shape[1], self.weight[0, 0].numel())

    def write(self, model: GraphModule, layer: Node) -> None:
        """Gives the layer new parameters, because those of the module may be the user's."""
        with layer.graph.inserting_before(layer):
            weight = constant_for(model, layer, "equalized_weight", self.weight)
            bias = None if self.bias is None else constant_for(model, layer, "equalized_bias", self.bias)
        arguments: list[Any] = [*layer.args, None][: max(3, len(layer.args))]
        layer.args = (arguments[0], weight, bias, *arguments[3:])


def _equalize(first: _Parameters, second: _Parameters) -> bool:
    """Returns whether something changed."""
    a, b = first.of_outputs(), second.of_inputs()
    steps = torch.where((a > 0) & (b > 0), torch.log2(a / b) / 2, torch.zeros(())).round()
    if not steps.any():
        return False
    factors = torch.exp2(steps)
    first.divide_outputs(factors)
    second.multiply_inputs(factors)
    return True


def _pair(model: GraphModule, first: Node, relu6: bool) -> Optional[_Pair]:
    if not _is_layer(model, first):
        return None
    node, replaced = first, None
    while len(node.users) == 1:
        node = next(iter(node.users))
        if _is_layer(model, node):
            linear = aten.linear.default in (first.target, node.target)
            # A linear layer has its channels last, a convolution does not.
            return None if linear and first.target is not node.target else _Pair(first, node, replaced)
        if relu6 and replaced is None and _is_relu6(node):
            replaced = node
        elif node.target not in _HOMOGENEOUS:
            return None
    return None


def _groups(convolution: Node) -> int:
    arguments: list[Any] = [*convolution.args, *[1] * 7]
    return int(arguments[6]) if len(convolution.args) > 6 else 1


def _is_layer(model: GraphModule, node: Node) -> bool:
    """Returns whether `node` is a layer whose input is an activation, with parameters of its own."""
    if node.op != "call_function" or node.target not in _LAYERS or node.kwargs:
        return False
    parameters = [argument for argument in node.args[1:3] if argument is not None]
    return all(data_of(model, argument) is not None and is_only_reader(argument) for argument in parameters)


def _is_relu6(node: Node) -> bool:
    if node.target is aten.hardtanh.default:
        return list(node.args[1:3]) == [0.0, 6.0]
    return node.target is aten.relu6.default
