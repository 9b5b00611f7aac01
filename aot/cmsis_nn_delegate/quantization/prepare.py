"""Rewrites of the exported (ATen, not yet quantized) graph that `quantizer` relies on.

`quantizable_module` turns an exported program into the module for `prepare_pt2e`. The quantizer
calls the other rewrites, which change their argument. All of them keep the function that the graph
computes.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from ..support.checked import checked
from ..support.isolation import isolated
from .control_flow import inline_control_flow
from .in_place import DROPOUT, functional_module, is_training, is_written, replace_in_place
from .input_truths import note_examples
from .rewriting import is_only_reader
from .trained_batch_norms import expose_batch_norms

aten = torch.ops.aten

_ALIAS = {
    aten.alias.default,
    aten.alias_copy.default,
    aten.detach.default,
    aten.detach_.default,
    aten.detach_copy.default,
    aten.lift_fresh.default,
}
# Exchange two dimensions, the arguments after the tensor.
_SWAPS = {aten.transpose.int, aten.swapaxes.default, aten.swapdims.default}
_PAD = {aten.pad.default, aten.constant_pad_nd.default}

_CONVERSIONS = {aten.to.dtype, aten.to.dtype_layout, aten.contiguous.default}

BATCH_NORM = {
    aten.batch_norm.default,
    aten._native_batch_norm_legit_no_training.default,
}
# What PT2E folds batch norms into.
_FOLDS_BATCH_NORM = {
    aten.conv1d.default,
    aten.conv1d.padding,
    aten.conv2d.default,
    aten.conv2d.padding,
    aten.conv3d.default,
    aten.conv3d.padding,
    aten.conv_transpose1d.default,
    aten.conv_transpose2d.input,
    aten.conv_transpose3d.input,
    aten.linear.default,
}


def _finish(model: GraphModule) -> None:
    model.graph.eliminate_dead_code()
    model.graph.lint()
    model.recompile()


@checked()
@isolated()
def quantizable_module(program: ExportedProgram, share_parameters: bool = False) -> GraphModule:
    """A copy of the program's module for `prepare_pt2e` or `prepare_qat_pt2e` and `CmsisNnQuantizer`.

    It computes what the program does, without writing in place (but into its own buffers), and each of its
    batch norms can be folded. The rows of embeddings with max_norm are limited now, once: training does not limit them
    again. A write of `forward` into an input does not reach the caller's tensor. With
    `share_parameters` it has the program's parameters, for a caller that will not train it, and else copies of them.

    UserError if the program is in training mode and writes through views.
    """
    model = functional_module(program, share_parameters)
    if inline_control_flow(model):
        replace_in_place(model)
    note_examples(model, program)
    if is_training(model.graph):
        expose_batch_norms(model)  # copies of a layer would be trained each by itself
    else:
        _separate_batch_norms(model)
    return model


def _separate_batch_norms(model: GraphModule) -> None:
    """Gives each batch norm a layer, a weight and a bias that nothing else reads.

    `prepare_pt2e` folds a batch norm into the convolution or linear layer before it, and does so even
    if that gives other results: if the layer's output is read elsewhere too (`norm(y) + y`), or its
    weight (one layer called twice, with different norms). Such a layer is computed once for each of its
    readers.
    """
    for norm in list(model.graph.nodes):
        if norm.op != "call_function" or norm.target not in BATCH_NORM:
            continue
        layer = norm.args[0]
        if layer.op != "call_function" or layer.target not in _FOLDS_BATCH_NORM:
            continue
        if _is_grouped_transpose(layer) or any(map(_is_state, (*layer.args, *norm.args))):
            # PT2E folds into its weights, [in, out / groups, h, w], as if there were one group, and takes states for
            # constants. An alias prevents that.
            with model.graph.inserting_before(norm):
                alias = model.graph.call_function(aten.alias.default, (layer,))
            alias.meta = dict(layer.meta)
            norm.replace_input_with(layer, alias)
            continue
        if len(layer.users) > 1:
            with model.graph.inserting_before(layer):
                copy = model.graph.node_copy(layer)
            norm.replace_input_with(layer, copy)
            layer = copy
        for parameter in layer.args[1:3]:
            if isinstance(parameter, Node) and parameter.op == "get_attr":
                _own(layer, parameter, model)
    _finish(model)


def _is_state(argument: Any) -> bool:
    return isinstance(argument, Node) and argument.op == "get_attr" and is_written(argument)


def _is_grouped_transpose(layer: Node) -> bool:
    if "conv_transpose" not in str(layer.target):
        return False
    overload: Any = layer.target
    names = [argument.name for argument in overload._schema.arguments]
    arguments: dict[str, Any] = {**dict(zip(names, layer.args)), **layer.kwargs}
    return bool(arguments.get("groups", 1) != 1)


def _own(layer: Node, parameter: Node, model: GraphModule) -> None:
    """Makes `layer` read a copy of `parameter`, unless it is its only reader."""
    if is_only_reader(parameter):
        return
    target = str(parameter.target)
    data = operator.attrgetter(target)(model).detach().clone()
    name = f"{layer.name}_{target.replace('.', '_')}"
    while hasattr(model, name):
        name += "_"
    model.register_parameter(name, torch.nn.Parameter(data, requires_grad=False))
    with model.graph.inserting_before(layer):
        copy = model.graph.get_attr(name)
    copy.meta = dict(parameter.meta)
    layer.replace_input_with(parameter, copy)


def remove_identities(model: GraphModule) -> None:
    """Removes dropout in eval mode, aliases, padding by nothing, exchanges of a dimension with itself, conversions to
    what a tensor is already, and assertions about that."""
    for node in list(model.graph.nodes):
        if node.op != "call_function":
            continue
        if node.target is aten._assert_tensor_metadata.default:
            model.graph.erase_node(node)
            continue
        identity = (
            (node.target in DROPOUT and not node.args[2])
            or node.target in _ALIAS
            or (node.target in _PAD and not any(node.args[1]))
            or (node.target in _SWAPS and _same_dimension(node))
            or (node.target in _CONVERSIONS and _same_tensor(node, node.args[0]))
        )
        if identity:
            node.replace_all_uses_with(node.args[0])
            model.graph.erase_node(node)
    _finish(model)


def _same_dimension(node: Node) -> bool:
    """Returns whether a node of `_SWAPS` exchanges a dimension with itself."""
    dims: list[Any] = [*node.args[1:], *node.kwargs.values()]
    rank = max(node.meta["val"].dim(), 1)
    return len({dim % rank for dim in dims}) == 1


def _same_tensor(a: Node, b: Node) -> bool:
    x, y = a.meta.get("val"), b.meta.get("val")
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        return False
    return (x.dtype, x.device, x.stride()) == (y.dtype, y.device, y.stride())


def unpad_same(model: GraphModule) -> None:
    """Turns conv2d(padding="same" | "valid") into conv2d with numbers, and with a pad before it
    where "same" means one more pixel at the bottom or right than at the top or left."""
    graph = model.graph
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not aten.conv2d.padding:
            continue
        args = list(node.args) + [None, [1, 1], "valid", [1, 1], 1][len(node.args) - 2 :]
        source, weight, bias, stride, padding, dilation, groups = args
        stride, dilation = _pair(stride), _pair(dilation)
        before, extra = [0, 0], [0, 0]
        if padding == "same":
            kernel = weight.meta["val"].shape[2:]
            total = [d * (k - 1) for d, k in zip(dilation, kernel)]
            before = [t // 2 for t in total]
            extra = [t - 2 * b for t, b in zip(total, before)]
        if any(extra):
            with graph.inserting_before(node):
                amounts = [0, extra[1], 0, extra[0]]
                pad = graph.call_function(aten.constant_pad_nd.default, (source, amounts))
                pad.meta = {key: item for key, item in source.meta.items() if "quant" not in key}
                pad.meta["val"] = aten.constant_pad_nd.default(source.meta["val"], amounts)
            source = pad
        node.target = aten.conv2d.default
        node.args = (source, weight, bias, stride, before, dilation, groups)
        node.kwargs = {}
    _finish(model)


def _pair(value: Any) -> list[int]:
    """[v, v] for v or [v], as PyTorch expands sizes."""
    values = [value] if isinstance(value, int) else list(value)
    return values * 2 if len(values) == 1 else values
