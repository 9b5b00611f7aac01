"""Computes one-dimensional layers as two-dimensional ones: a sequence [N, C, L] becomes an image [N, C, 1, L].

The kernels compute images, channels-last. Each one-dimensional layer (conv1d, max_pool1d, ...) gets its two-dimensional
form, and so does everything between such layers that treats sequences and images alike: elementwise functions, batch
norm, padding, concatenation, slices, means. Only what lies around them reads and writes sequences: there, unsqueeze and
squeeze change the shape, so that a network moves no data between its layers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .in_place import DROPOUT, is_written, written
from .rewriting import arguments_of, data_of, finish

aten = torch.ops.aten

_HEIGHT = 2  # the dimension that an image has and a sequence has not


def images_of_sequences(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    lifted = _lifted(model)
    if not lifted:
        return
    rewriting = _Rewriting(model, lifted)
    for node in list(model.graph.nodes):
        if node in lifted:
            rewriting.lift(node)
    model.graph.eliminate_dead_code()
    rewriting.remove_unread_parameters()
    finish(model)


# Which nodes ----------------------------------------------------------------


def _lifted(model: GraphModule) -> set[Node]:
    """Returns the one-dimensional layers, and what exchanges sequences with them and may become two-dimensional."""
    found = {node for node in model.graph.nodes if node.target in _LAYERS and _is_layer(node)}
    rest = list(found)
    while rest:
        node = rest.pop()
        for other in (*(arg for arg in node.all_input_nodes if _is_sequence(arg)), *_readers_of_sequence(node)):
            if other not in found and _follows(other):
                found.add(other)
                rest.append(other)
    return found


def _readers_of_sequence(node: Node) -> list[Node]:
    return list(node.users) if _is_sequence(node) else []


def _is_layer(node: Node) -> bool:
    """Whether the two-dimensional form exists: a batch of sequences, and parameters that are the model's own."""
    if not _is_sequence(node.args[0]):
        return False
    if any(user.target is operator.getitem and user.args[1] == 1 and user.users for user in node.users):
        return False  # indices count along the sequence
    if node.target in _COPIES:
        # By a factor that is an integer, they copy sequences as well as images.
        return bool(_tensor(node).shape[-1] % _tensor(node.args[0]).shape[-1])
    weight: Any = node.args[1] if node.target in _CONVOLUTIONS else None
    return weight is None or weight.op == "get_attr" and not is_written(weight)


def _follows(node: Node) -> bool:
    """Whether `node` may become two-dimensional with its neighbours."""
    if node.op != "call_function" or written(node):
        return False  # a state keeps its shape
    if node.target is operator.getitem:
        source: Any = node.args[0]
        return _is_sequence(node) and _follows(source)
    ranks = [_rank(arg) for arg in node.all_input_nodes]
    if _is_pointwise(node):
        return _is_sequence(node) and all(rank is not None and rank <= 3 for rank in ranks)
    if node.target not in _FOLLOWERS:
        return False
    if node.target in _LAYERS and node.target not in _COPIES:
        return _is_layer(node)
    sources = node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
    return all(map(_is_sequence, sources)) and _FOLLOWERS[node.target](node) is not None


def _is_pointwise(node: Node) -> bool:
    return node.target in _POINTWISE or torch.Tag.pointwise in getattr(node.target, "tags", ())


def _rank(node: Any) -> Optional[int]:
    value = _tensor(node)
    return value.dim() if isinstance(value, torch.Tensor) else None


def _tensor(node: Any) -> Any:
    """The fake tensor or tensors of a node, or the parameter or buffer that it reads."""
    if not isinstance(node, Node):
        return None
    value = node.meta.get("val")
    if value is None and node.op == "get_attr":
        value = operator.attrgetter(str(node.target))(node.graph.owning_module)
    return value


def _is_sequence(node: Any) -> bool:
    """Whether `node` is a float tensor [N, C, L], or several of them."""
    value = _tensor(node)
    if isinstance(value, (list, tuple)):
        return bool(value) and isinstance(value[0], torch.Tensor) and value[0].dim() == 3
    return isinstance(value, torch.Tensor) and value.dim() == 3 and value.dtype == torch.float32


# Their two-dimensional forms ------------------------------------------------
#
# A function of this section takes a node and returns the target and the arguments of its two-dimensional form, in which
# tensors are still sequences; None if it has none.

_Form = tuple[Any, list[Any]]
_Rule = Callable[[Node], Optional[_Form]]


def _flat(beside: int, value: Any) -> Any:
    """[beside, v] for [v] or v, what two-dimensional layers take for height and width; other values stay."""
    if isinstance(value, (list, tuple)):
        return [beside, *value] if len(value) == 1 else list(value)
    return [beside, value] if isinstance(value, int) and not isinstance(value, bool) else value


def _windowed(target: Any, **beside: int) -> _Rule:
    """Of a layer with windows: each argument named in `beside` counts pixels of the width, and becomes a pair with that
    number for the height."""

    def form(node: Node) -> _Form:
        overload: Any = node.target
        names = [declared.name for declared in overload._schema.arguments]
        values = [
            _flat(beside[name], value) if name in beside else value for name, value in zip(names, arguments_of(node))
        ]
        return target, values

    return form


def _alike(node: Node) -> _Form:
    return node.target, arguments_of(node)


def _dim(dim: int) -> int:
    """The dimension of an image that is dimension `dim` of a sequence."""
    return (0, 1, 3)[dim % 3]


def _along(index: int) -> _Rule:
    """Argument `index` is a dimension or a list of them."""

    def form(node: Node) -> Optional[_Form]:
        arguments = arguments_of(node)
        dims = arguments[index]
        if dims is None:
            return None
        arguments[index] = _dim(dims) if isinstance(dims, int) else [_dim(dim) for dim in dims]
        return node.target, arguments

    return form


def _reduced(node: Node) -> Optional[_Form]:
    """A reduction over dimensions in argument 1 that keeps them if argument 2 says so."""
    arguments = arguments_of(node)
    dims = [arguments[1]] if isinstance(arguments[1], int) else list(arguments[1] or ())
    if not arguments[2]:
        if not any(dim % 3 == 2 for dim in dims):
            return None  # the height would stay
        arguments[1] = [*(_dim(dim) for dim in dims), _HEIGHT]
    else:
        arguments[1] = [_dim(dim) for dim in dims]
    return node.target, arguments


def _padded(node: Node) -> _Form:
    """Amounts come in pairs, those of the last dimension first."""
    arguments = arguments_of(node)
    width, *rest = zip(arguments[1][::2], arguments[1][1::2])
    arguments[1] = [*width, 0, 0, *(amount for pair in rest for amount in pair)]
    return node.target, arguments


def _upsampled(target: Any) -> _Rule:
    def form(node: Node) -> _Form:
        arguments = [
            None if value is None else [1, *value] if isinstance(value, list) and len(value) == 1 else value
            for value in arguments_of(node)
        ]
        if arguments[-1] is not None:
            arguments[-1] = [1.0, *arguments[-1][-1:]]
        return target, arguments

    return form


_STEPS = {"stride": 1, "padding": 0, "dilation": 1}
_POOL = {"kernel_size": 1, **_STEPS}

_CONVOLUTIONS: dict[Any, _Rule] = {
    aten.conv1d.default: _windowed(aten.conv2d.default, **_STEPS),
    aten.conv1d.padding: _windowed(aten.conv2d.padding, stride=1, dilation=1),
    aten.conv_transpose1d.default: _windowed(aten.conv_transpose2d.input, **_STEPS, output_padding=0),
}


def _avg_pool(node: Node) -> _Form:
    """avg_pool2d has one argument more, divisor_override."""
    target, arguments = _windowed(aten.avg_pool2d.default, **_POOL)(node) or (None, [])
    return target, [*arguments, None]


def _adaptive_avg_pool(node: Node) -> Optional[_Form]:
    """The average of the whole sequence is a mean, which has a scale of its own."""
    source, outputs = arguments_of(node)
    if outputs in (1, [1]):
        return aten.mean.dim, [source, [_HEIGHT, _HEIGHT + 1], True]
    return _windowed(aten.adaptive_avg_pool2d.default, output_size=1)(node)


_COPIES: dict[Any, _Rule] = {
    aten.upsample_nearest1d.vec: _upsampled(aten.upsample_nearest2d.vec),
    aten._upsample_nearest_exact1d.vec: _upsampled(aten._upsample_nearest_exact2d.vec),
}

_LAYERS: dict[Any, _Rule] = {
    **_CONVOLUTIONS,
    **_COPIES,
    aten.max_pool1d.default: _windowed(aten.max_pool2d.default, **_POOL),
    aten.max_pool1d_with_indices.default: _windowed(aten.max_pool2d_with_indices.default, **_POOL),
    aten.avg_pool1d.default: _avg_pool,
    aten.adaptive_avg_pool1d.default: _adaptive_avg_pool,
    aten.adaptive_max_pool1d.default: _windowed(aten.adaptive_max_pool2d.default, output_size=1),
    aten.upsample_linear1d.vec: _upsampled(aten.upsample_bilinear2d.vec),
    aten.batch_norm.default: _alike,
    aten._native_batch_norm_legit_no_training.default: _alike,
}
# Functions of one number, and of a number and a channel's, that PyTorch does not tag as such.
_POINTWISE = {
    *DROPOUT,
    aten.clone.default,
    aten.contiguous.default,
    aten.hardswish.default,
    aten.log_sigmoid.default,
    aten.prelu.default,
    aten.to.dtype,
    aten.to.dtype_layout,
}
_FOLLOWERS: dict[Any, _Rule] = {
    **_LAYERS,
    aten.pad.default: _padded,
    aten.constant_pad_nd.default: _padded,
    aten.cat.default: _along(1),
    aten.softmax.int: _along(1),
    aten.log_softmax.int: _along(1),
    aten.slice.Tensor: _along(1),
    aten.narrow.default: _along(1),
    aten.flip.default: _along(1),
    aten.roll.default: _along(2),
    aten.split.Tensor: _along(2),
    aten.split_with_sizes.default: _along(2),
    aten.chunk.default: _along(2),
    aten.mean.dim: _reduced,
    aten.sum.dim_IntList: _reduced,
    aten.amax.default: _reduced,
    aten.amin.default: _reduced,
    aten.group_norm.default: _alike,
    aten.instance_norm.default: _alike,
}


# Rewriting ------------------------------------------------------------------


class _Rewriting:
    """Lifts nodes in the order of the graph. A lifted node stays the same node, so that it keeps its name."""

    def __init__(self, model: GraphModule, lifted: set[Node]) -> None:
        self._model = model
        self._lifted = lifted
        self._images: dict[Node, Node] = {}  # of sequences that are not lifted
        self._parameters: dict[str, str] = {}  # names of parameters of rank 3, and of the same with rank 4

    def lift(self, node: Node) -> None:
        sequence = _is_sequence(node)
        if node.target is operator.getitem:
            form: Optional[_Form] = (node.target, list(node.args))
        elif _is_pointwise(node):
            form = _alike(node)
        else:
            form = _FOLLOWERS[node.target](node)
        assert form is not None  # as `_follows` found
        target, arguments = form
        pointwise = _is_pointwise(node)
        if target is not operator.getitem:
            arguments = [self._image(argument, node, pointwise) for argument in arguments]
        node.target, node.args, node.kwargs = target, *self._called(target, arguments)
        if not sequence:
            return
        node.meta["val"] = _with_height(node.meta["val"])
        outside = [user for user in node.users if user not in self._lifted and user.target is not operator.getitem]
        if outside and not isinstance(node.meta["val"], (list, tuple)):
            squeezed = self._reshape(node, node, node.graph.inserting_after(node), aten.squeeze.dim)
            for user in outside:
                user.replace_input_with(node, squeezed)

    def remove_unread_parameters(self) -> None:
        """Removes parameters that are read only as copies of rank 4."""
        read = {str(node.target) for node in self._model.graph.nodes if node.op == "get_attr"}
        for name in self._parameters:
            if name not in read:
                path, _, member = name.rpartition(".")
                delattr(self._model.get_submodule(path), member)

    def _image(self, argument: Any, reader: Node, pointwise: bool) -> Any:
        """What `reader` reads in place of `argument` once it is two-dimensional."""
        if isinstance(argument, (list, tuple)):
            return [self._image(member, reader, pointwise) for member in argument]
        if not isinstance(argument, Node) or argument in self._lifted:
            return argument
        rank = _rank(argument)
        # [C, 1] is aligned with [N, C, L] at the end: it needs a height too. [L] and [C] of a parameter do not.
        if rank != 3 and not (rank == 2 and pointwise):
            return argument
        if argument not in self._images:
            if data_of(self._model, argument) is not None:
                image = self._parameter(argument)
            else:
                image = self._reshape(argument, reader, reader.graph.inserting_after(argument), aten.unsqueeze.default)
            self._images[argument] = image
        return self._images[argument]

    def _parameter(self, node: Node) -> Node:
        name = str(node.target)
        if name not in self._parameters:
            old = operator.attrgetter(name)(self._model)
            new = old.detach().unsqueeze(-2).clone()
            image = f"{name.replace('.', '_')}_image"
            while hasattr(self._model, image):
                image += "_"
            if isinstance(old, torch.nn.Parameter):
                self._model.register_parameter(image, torch.nn.Parameter(new, requires_grad=old.requires_grad))
            else:
                self._model.register_buffer(image, new)
            self._parameters[name] = image
        with node.graph.inserting_after(node):
            found = node.graph.get_attr(self._parameters[name])
        found.meta = dict(node.meta)
        if "val" in node.meta:
            found.meta["val"] = node.meta["val"].unsqueeze(-2)
        return found

    @staticmethod
    def _reshape(source: Node, layer: Node, here: Any, target: Any) -> Node:
        """A squeeze or unsqueeze of `source`; in messages it belongs to the module of `layer`."""
        with here:
            node = source.graph.call_function(target, (source, -2))
        kept = ("nn_module_stack", "stack_trace", "source_fn_stack", "from_node", "torch_fn")
        node.meta = {key: layer.meta[key] for key in kept if key in layer.meta}
        node.meta["val"] = target(_tensor(source), -2)
        return node

    @staticmethod
    def _called(target: Any, arguments: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional arguments without trailing defaults, and those that must have names."""
        if target is operator.getitem:
            return tuple(arguments), {}
        declared = target._schema.arguments
        positional = [value for value, d in zip(arguments, declared) if not d.kwarg_only]
        named = {d.name: value for value, d in zip(arguments, declared) if d.kwarg_only and value != d.default_value}
        while positional and _is_default(positional[-1], declared[len(positional) - 1]):
            positional.pop()
        return tuple(positional), named


def _is_default(value: Any, declared: Any) -> bool:
    return bool(declared.has_default_value()) and not isinstance(value, Node) and value == declared.default_value


def _with_height(value: Any) -> Any:
    """A fake tensor [N, C, L], or several, as images. Statistics, which nothing reads, stay."""
    if isinstance(value, (list, tuple)):
        return type(value)(_with_height(member) for member in value)
    return value.unsqueeze(_HEIGHT) if value.dim() == 3 else value
