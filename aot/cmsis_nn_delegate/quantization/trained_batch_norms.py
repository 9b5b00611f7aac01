"""Batch norms in quantization-aware training: all of them become part of a convolution.

`prepare_qat_pt2e` trains a batch norm together with the 1-D, 2-D or transposed convolution before it, whose weights
it rounds with the factors of the norm. It leaves others alone (before the first layer, after an activation, a sum or a
linear layer), which would compute in float then; some it even gets wrong. `expose_batch_norms` therefore gives each
batch norm a convolution:

* A linear layer of rows becomes a convolution of one pixel, with the same parameters.
* Others get a depthwise convolution of one pixel, with weights of 1 that are not trained. What is left after training
  is a weight and a bias for each channel.

torchao's functions that switch between training and evaluation reset the eps of all batch norms to 1e-5. A batch norm
with another one gets that eps, and the difference is added to its running variance: the same function in evaluation.
Statistics of batches have the new eps from then on. They also reset the momentum, to 0.1.

`fold_batch_norms` makes the convolutions that remain after training.
"""

from __future__ import annotations

import operator
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from ..support.errors import UserError
from .in_place import describe
from .rewriting import call_for, constant_for, data_of, evaluated, finish, is_only_reader

aten = torch.ops.aten

_EPS = 1e-5
_CONVOLUTIONS = {
    aten.conv1d.default,
    aten.conv2d.default,
    aten.conv_transpose1d.default,
    aten.conv_transpose2d.input,
}
_ACTIVATIONS = {aten.relu.default, aten.relu6.default, aten.hardtanh.default}


def expose_batch_norms(model: GraphModule) -> None:
    """Rewrites a module that was exported in training mode; see the module docstring."""
    _drop_counts(model)
    same_eps: set[str] = set()
    for norm in list(model.graph.nodes):
        if norm.op == "call_function" and norm.target is aten.batch_norm.default:
            _set_eps(model, norm, same_eps)
            _give_parameters(model, norm)
            if not _has_own_convolution(norm):
                _give_convolution(model, norm)
    finish(model)


def _drop_counts(model: GraphModule) -> None:
    """Removes the counts of batches, which only norms without a momentum read."""
    for node in reversed(model.graph.nodes):
        if node.target is aten.add_.Tensor and not node.users:
            source = node.args[0]
            while source.target is aten.add_.Tensor:
                source = source.args[0]
            if source.op == "get_attr" and str(source.target).endswith("num_batches_tracked"):
                model.graph.erase_node(node)


def _set_eps(model: GraphModule, norm: Node, done: set[str]) -> None:
    arguments: list[Any] = list(norm.args)
    variance, eps = arguments[4], float(arguments[7])
    if eps == _EPS:
        return
    buffer = data_of(model, variance)
    if buffer is None:
        return
    if str(variance.target) not in done:  # a module may be called several times
        done.add(str(variance.target))
        buffer += eps - _EPS
    arguments[7] = _EPS
    norm.args = tuple(arguments)


def _give_parameters(model: GraphModule, norm: Node) -> None:
    """Gives a norm without weight or bias those that change nothing, because PyTorch's patterns have them."""
    arguments: list[Any] = list(norm.args)
    mean = data_of(model, arguments[3])
    for index, what, value in ((1, "weight", 1.0), (2, "bias", 0.0)):
        if arguments[index] is None and mean is not None:
            with norm.graph.inserting_before(norm):
                arguments[index] = constant_for(model, norm, what, torch.full_like(mean, value))
    norm.args = tuple(arguments)


def _has_own_convolution(norm: Node) -> bool:
    """Returns whether `prepare_qat_pt2e` can train the norm with the convolution before it: that must have weights of
    its own and no other reader, and no groups if it is transposed."""
    layer: Any = norm.args[0]
    if layer.op != "call_function" or layer.target not in _CONVOLUTIONS or len(layer.users) > 1:
        return False
    if "transpose" in str(layer.target) and [*layer.args, *[1] * 7][6] != 1:
        return False
    parameter: Any = layer.args[1]
    return parameter.op == "get_attr" and is_only_reader(parameter)


def _give_convolution(model: GraphModule, norm: Node) -> None:
    source: Any = norm.args[0]
    value = norm.meta["val"]
    if value.dim() == 2:
        _of_pixels(model, norm, source)
        return
    if value.dim() not in (3, 4):
        return
    channels = value.shape[1]
    target, size = (aten.conv2d.default, 2) if value.dim() == 4 else (aten.conv1d.default, 1)
    with norm.graph.inserting_before(norm):
        ones = constant_for(model, norm, "ones", torch.ones(channels, 1, *[1] * size))
        new = call_for(norm, target, value, source, ones, None, [1] * size, [0] * size, [1] * size, channels)
    norm.replace_input_with(source, new)


def _of_pixels(model: GraphModule, norm: Node, source: Node) -> None:
    """Makes the norm of rows one of images of one pixel; so is the linear layer before it, if that is its own."""
    value = norm.meta["val"]
    shape = [*value.shape, 1, 1]
    graph = norm.graph
    linear = source.op == "call_function" and source.target is aten.linear.default and len(source.users) == 1
    weight: Any = source.args[1] if linear else None
    if weight is not None and weight.op == "get_attr" and is_only_reader(weight) and value.dim() == 2:
        rows: Any = source.args[0]
        bias = [*source.args, None][2]
        with graph.inserting_before(source):
            pixel = [*rows.meta["val"].shape, 1, 1]
            image = call_for(source, aten.reshape.default, rows.meta["val"].reshape(pixel), rows, pixel)
            data = operator.attrgetter(str(weight.target))(model).detach()
            filters = constant_for(model, source, "filters", data.clone().reshape(*data.shape, 1, 1), trained=True)
            layer = call_for(source, aten.conv2d.default, value.reshape(shape), image, filters, bias)
        source.replace_all_uses_with(layer)
        graph.erase_node(source)
    else:
        with graph.inserting_before(norm):
            image = call_for(norm, aten.reshape.default, value.reshape(shape), source, shape)
            ones = constant_for(model, norm, "ones", torch.ones(value.shape[1], 1, 1, 1))
            layer = call_for(
                norm,
                aten.conv2d.default,
                value.reshape(shape),
                image,
                ones,
                None,
                [1, 1],
                [0, 0],
                [1, 1],
                value.shape[1],
            )
        norm.replace_input_with(source, layer)
    # The activation stays beside the norm, to be fused with it.
    last = norm
    while len(last.users) == 1 and next(iter(last.users)).target in _ACTIVATIONS:
        last = next(iter(last.users))
        last.meta["val"] = value.reshape(shape)
    norm.meta["val"] = value.reshape(shape)
    with graph.inserting_after(last):
        result = call_for(norm, aten.reshape.default, value, last, list(value.shape))
    last.replace_all_uses_with(result, lambda user: user is not result)


def fold_batch_norms(prepared: GraphModule) -> None:
    """Changes the convolutions that `prepare_qat_pt2e` has trained together with batch norms to what they compute in
    evaluation. UserError if the module is in training mode."""
    for norm in list(prepared.graph.nodes):
        if norm.op != "call_function" or norm.target is not aten.batch_norm.default:
            continue
        if norm.args[5]:
            raise UserError(
                f"{describe(norm)} is in training mode: call torchao's move_exported_model_to_eval before conversion"
            )
        _fold(prepared, norm)
    finish(prepared)


def _fold(prepared: GraphModule, norm: Node) -> None:
    """torchao computes batch_norm(conv(x, weight * factor) / factor + bias), without the sum if there is no bias. In a
    layer that stays in float, nothing rounds that weight, nor the zeros that it has instead of the bias."""
    source: Any = norm.args[0]
    bias: Optional[torch.Tensor] = torch.zeros(())
    if source.target is aten.add.Tensor:
        bias = evaluated(prepared, source.args[1])
        source = source.args[0]
    if source.target is not aten.div.Tensor or bias is None:
        return
    layer: Any = source.args[0]
    weight, offset, mean, variance = (data_of(prepared, argument) for argument in norm.args[1:5])
    if layer.target not in _CONVOLUTIONS or weight is None or offset is None or mean is None or variance is None:
        return
    eps: Any = norm.args[7]
    factor = weight.double() * torch.rsqrt(variance.double() + eps)
    folded = (offset + (bias.reshape(-1) - mean.double()) * factor).float()
    given: Any = [*layer.args, None][2]
    observed = given is not None and given.op == "call_module"
    scaled = evaluated(prepared, layer.args[1])
    with norm.graph.inserting_before(given if observed else layer):
        constant = constant_for(prepared, layer, "folded_bias", folded)
        filters = layer.args[1] if scaled is None else constant_for(prepared, layer, "folded_weight", scaled)
    if observed:
        given.replace_input_with(given.args[0], constant)
    layer.args = (layer.args[0], filters, given if observed else constant, *layer.args[3:])
    norm.replace_all_uses_with(layer)
