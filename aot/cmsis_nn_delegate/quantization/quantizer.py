"""PT2E quantizer: marks what the delegate can run with the int8 scheme of its kernels.

    module = quantizable_module(torch.export.export(model.eval(), inputs))
    prepared = prepare_pt2e(module, CmsisNnQuantizer())
    for batch in calibration: prepared(*batch)
    converted = convert_pt2e(prepared)

Activations are int8, affine, per tensor, in [-128, 127]. Weights are int8, symmetric,
per output channel (axis 0), in [-127, 127]: without -128 a product of two of them never
overflows a kernel's 16-bit pairs. Biases are int32 with scale s_input * s_weight.

CMSIS-NN takes a scale per channel for convolution and linear alike. For linear layers it also
has a kernel with one scale for all weights, which `linear_weights="per-tensor"` selects: 2 % fewer
instructions on a Cortex-M4 and 4 % on an M55 for a network of linear layers alone, and 8 bytes less an
output. Per channel is the default since that costs accuracy where the rows of a layer differ in
size: the outputs of MLPerf Tiny's trained autoencoder, next to those in float, fall from 28 to
23 dB; the three networks whose only linear layer is the last keep their classes.

What only moves or selects values (pooling, reshape, pad, a clamp that cannot be
fused) shares one scale between input and output, as its kernel computes in it. So do all
tensors that a concatenation puts together: what computes them requantizes to that scale anyway.
The class of an operator declares how it is quantized (`ops.annotation`). Operators without a class stay
float, and so does what only moves or limits values between them.

`prepare.quantizable_module` matters to models that write through views (`y[:, :2] = 0`): quantization
separates tensors that share memory, and such writes would be lost; the quantizer refuses them. It also
matters where a batch norm is not the only reader of its convolution: `prepare_pt2e` folds it all the same,
before it asks a quantizer anything.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.fake_quantize import FakeQuantize
from torchao.quantization.pt2e.observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    Quantizer,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from ..ops.annotation import Annotation, Elementwise, FixedOutput, JoinedScale, SameScale, Unary, Weighted
from ..ops.registry import OPS
from .batch_norms import batch_norms_to_convolutions
from .clamps import clamps_to_numbers
from .compositions import spell_out_products
from .constants import fold_constants
from .crops import crops_to_padding
from .divisions import divisions_to_products
from .in_place import DROPOUT, constant_nodes, replace_in_place, written_state
from .pools import rewrite_pools
from .prepare import BATCH_NORM, remove_identities, unpad_same
from .products import split_products
from .recurrent import unroll_recurrent_layers
from .rewriting import evaluated
from .selections import separate_selections
from .sequences import images_of_sequences
from .shared_scales import point_to_first, scale_of
from .softmax_axes import softmax_along_rows
from .splits import separate_parts
from .worthwhile import drop_workless

# What operators say about being quantized, by the names of their overloads in exported programs.
# A target can have several annotations. They are tried in order, those of one activation first.
_ANNOTATIONS: dict[str, list[Annotation]] = {}
for _op in sorted(OPS.values(), key=lambda op: not isinstance(op.annotation, Unary)):
    for _target in _op.annotation.targets:
        _ANNOTATIONS.setdefault(_target, []).append(_op.annotation)
_BATCH_NORMS = frozenset(map(str, BATCH_NORM))
_ACTIVATIONS = frozenset(OPS["clamp"].annotation.targets)
_WORKING = {target for op in OPS.values() if op.computes for target in op.annotation.targets}

OBSERVERS: dict[str, Any] = {
    # One outlier in the calibration set must not cost every other value a bit: the
    # histogram observer clips where that lowers the squared error.
    "histogram": HistogramObserver,
    # Never clips; a hundred times faster, for large models or few, clean inputs.
    "minmax": MinMaxObserver,
}

# How linear layers are quantized.
LINEAR_WEIGHTS = ("per-channel", "per-tensor")

# Smallest scales. A constant activation must not give a scale that makes the
# requantization factor overflow; a channel whose weights vanish must leave room for
# its bias in 32 bits: |bias| / (s_input * s_weight) < 2^31.
_ACTIVATION_EPS = 2.0**-20
_WEIGHT_EPS = 2.0**-20
# Of constants that activations are added to or multiplied with, which may all be tiny (the scales of residual
# branches are often initialized with 1e-6).
_CONSTANT_EPS = 2.0**-40


_DeriveQparams = Callable[[Sequence[Any]], tuple[torch.Tensor, torch.Tensor]]


def _derive_bias_qparams(observers: Sequence[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """scale[channel] = s_input * s_weight[channel], zero point 0."""
    input_scale, _ = observers[0].calculate_qparams()
    weight_scale, _ = observers[1].calculate_qparams()
    scale = input_scale.to(torch.float32) * weight_scale.to(torch.float32)
    return scale, torch.zeros_like(scale, dtype=torch.int32)


class CmsisNnQuantizer(Quantizer):
    """See the module docstring. `observer` is a key of `OBSERVERS`, `linear_weights` one of
    `LINEAR_WEIGHTS`.

    `qat` is for `prepare_qat_pt2e`: then the module computes with quantized numbers while it is trained, and
    scales follow moving averages of the ranges; `observer` has no meaning.
    """

    def __init__(self, observer: str = "histogram", linear_weights: str = "per-channel", qat: bool = False) -> None:
        super().__init__()
        if observer not in OBSERVERS:
            raise ValueError(f"unknown observer {observer!r}; choose one of {', '.join(OBSERVERS)}")
        if linear_weights not in LINEAR_WEIGHTS:
            raise ValueError(f"unknown linear weights {linear_weights!r}; choose one of {', '.join(LINEAR_WEIGHTS)}")
        activation = OBSERVERS[observer].with_args(eps=_ACTIVATION_EPS)
        per_channel = PerChannelMinMaxObserver.with_args(eps=_WEIGHT_EPS)
        per_tensor = MinMaxObserver.with_args(eps=_WEIGHT_EPS)
        # All values are known, so that none is clipped.
        constant = MinMaxObserver.with_args(eps=_CONSTANT_EPS)
        if qat:
            activation = FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, eps=_ACTIVATION_EPS)
            # Of the weights as they are now: the average has one member.
            now = {"averaging_constant": 1.0, "eps": _WEIGHT_EPS}
            per_channel = FakeQuantize.with_args(observer=MovingAveragePerChannelMinMaxObserver, **now)
            per_tensor = FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, **now)
            constant = FakeQuantize.with_args(
                observer=MovingAverageMinMaxObserver, averaging_constant=1.0, eps=_CONSTANT_EPS
            )
        self.activation, self.constant = (
            QuantizationSpec(
                dtype=torch.int8,
                quant_min=-128,
                quant_max=127,
                qscheme=torch.per_tensor_affine,
                observer_or_fake_quant_ctr=observed,
            )
            for observed in (activation, constant)
        )
        self.weight = QuantizationSpec(
            dtype=torch.int8,
            quant_min=-127,
            quant_max=127,
            qscheme=torch.per_channel_symmetric,
            ch_axis=0,
            observer_or_fake_quant_ctr=per_channel,
        )
        self._one_scale = QuantizationSpec(
            dtype=torch.int8,
            quant_min=-127,
            quant_max=127,
            qscheme=torch.per_tensor_symmetric,
            observer_or_fake_quant_ctr=per_tensor,
        )
        self.linear_weight = self._one_scale if linear_weights == "per-tensor" else self.weight
        self._qat = qat

    # Quantizer --------------------------------------------------------------

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Brings the graph into the forms that `annotate` knows; batch norms are folded already.

        UserError names a node that writes through a view: see `prepare.quantizable_module`.
        """
        remove_identities(model)
        replace_in_place(model)
        unroll_recurrent_layers(model)
        spell_out_products(model)
        fold_constants(model, trained=self._qat)
        clamps_to_numbers(model)
        separate_parts(model)
        separate_selections(model)
        images_of_sequences(model)
        unpad_same(model)
        crops_to_padding(model)
        rewrite_pools(model)
        batch_norms_to_convolutions(model)
        divisions_to_products(model)
        split_products(model)
        softmax_along_rows(model)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        state = written_state(model.graph)
        constants = constant_nodes(model.graph) - state
        numbers = {node for node in constants if _is_tensor(node) and _value(node).numel() == 1}
        for node in model.graph.nodes:
            if node.op != "call_function" or Q_ANNOTATION_KEY in node.meta:
                continue
            if node in constants:
                continue  # convert_pt2e computes it together with the quantize of its reader
            if not _is_float(node) or not all(_is_float(arg) or arg in numbers for arg in node.all_input_nodes):
                continue
            if not state.isdisjoint(node.all_input_nodes):
                continue  # quantized, it would be taken for a constant
            annotations = [SameScale(())] if node.target in DROPOUT else _ANNOTATIONS.get(str(node.target), [])
            any(self._annotate(node, annotation, constants, numbers) for annotation in annotations)
        drop_workless(model, _works)
        point_to_first(model.graph)
        return model

    def validate(self, model: GraphModule) -> None:
        """Checks nothing: the partitioner reports the operators that the delegate cannot run."""

    # Patterns ---------------------------------------------------------------

    def _annotate(self, node: Node, annotation: Annotation, constants: set[Node], numbers: set[Node]) -> bool:
        """Annotates `node` if `annotation` applies to it. Returns whether it does. `numbers` are the constants with one
        element."""
        if isinstance(annotation, Weighted):
            return self._annotate_weighted(node, annotation)
        if isinstance(annotation, Elementwise):
            return self._annotate_elementwise(node, annotation, constants)
        if isinstance(annotation, Unary):
            return self._annotate_unary(node, annotation, constants, numbers)
        if isinstance(annotation, JoinedScale):
            return self._annotate_joined(node, annotation, constants)
        source: Any = node.args[0]
        if isinstance(annotation, FixedOutput):
            self._mark(node, {source: self._input(source)}, self._fixed(annotation.scale, annotation.zero_point))
            return True
        if not isinstance(annotation, SameScale) or source.op == "get_attr":
            return False
        self._mark(node, {source: self._input(source)}, SharedQuantizationSpec((source, node)))
        return True

    def _annotate_weighted(self, node: Node, annotation: Weighted) -> bool:
        """Annotates a layer with weights together with the activation that follows it."""
        arguments: tuple[Any, ...] = node.args
        source, weight, *rest = arguments
        bias: Any = rest[0] if rest else node.kwargs.get("bias")
        if weight.op != "get_attr":
            return False  # not a constant: the partitioner says so
        spec = self.linear_weight if annotation.linear else self.weight
        derive: _DeriveQparams = _derive_bias_qparams
        if annotation.transposed:
            spec, derive = self._transposed(node)
        inputs: dict[Node, QuantizationSpecBase] = {
            source: self._input(source),
            weight: spec,
        }
        if bias is not None:
            inputs[bias] = DerivedQuantizationSpec(
                derived_from=[(source, node), (weight, node)],
                derive_qparams_fn=derive,
                dtype=torch.int32,
                quant_min=-(2**31),
                quant_max=2**31 - 1,
                qscheme=spec.qscheme,
                ch_axis=0,
            )
        self._mark_with_activation(node, inputs, _BATCH_NORMS if annotation.folds_batch_norm else frozenset())
        return True

    def _transposed(self, node: Node) -> tuple[QuantizationSpec, _DeriveQparams]:
        """The weight of a transposed convolution, [in, out / groups, h, w], and its bias. The scales along dimension 1
        serve all groups; if a group has one input channel, dimension 0 counts the groups.

        `prepare_qat_pt2e` folds a batch norm into such a layer, but `convert_pt2e` then takes the scales for those of
        dimension 0: so the layer has one scale there.
        """
        if self._qat and any(str(user.target) in _BATCH_NORMS for user in node.users):
            return self._one_scale, _derive_bias_qparams
        weight: Any = node.args[1]
        groups = _argument(node, "groups")
        inputs, per_group = _value(weight).shape[:2]
        depthwise = inputs == groups > 1

        def derive(observers: Sequence[Any]) -> tuple[torch.Tensor, torch.Tensor]:
            scale, zero_point = _derive_bias_qparams(observers)
            if scale.numel() > 1 or per_group * groups > 1:
                scale = scale.repeat_interleave(per_group) if depthwise else scale.repeat(groups)
            return scale, torch.zeros_like(scale, dtype=zero_point.dtype)

        return replace(self.weight, ch_axis=0 if depthwise else 1), derive

    def _annotate_elementwise(self, node: Node, annotation: Elementwise, constants: set[Node]) -> bool:
        operands: tuple[Any, ...] = node.args[: annotation.operands]
        if not all(isinstance(arg, Node) for arg in operands):
            return False  # a number
        if any(arg in constants and not _is_finite(arg) for arg in operands):
            return False  # a mask, for which int8 has no number
        specs = {arg: self.constant if arg in constants else self._input(arg) for arg in operands}
        self._mark_with_activation(node, specs)
        return True

    def _annotate_unary(self, node: Node, annotation: Unary, constants: set[Node], numbers: set[Node]) -> bool:
        given = (*node.args, *node.kwargs.values())
        sources = [arg for arg in given if isinstance(arg, Node) and arg not in numbers]
        if len(sources) != 1 or sources[0] in constants or _value(sources[0]).shape != _value(node).shape:
            return False
        inputs = {sources[0]: self._input(sources[0])}
        fixed = annotation.fixed.get(str(node.target))
        if fixed is None:
            self._mark_with_activation(node, inputs)
        else:
            self._mark(node, inputs, self._fixed(*fixed))
        return True

    def _annotate_joined(self, node: Node, annotation: JoinedScale, constants: set[Node]) -> bool:
        """Gives the inputs and the output one scale, except for inputs whose producer has a fixed one.

        An observer for all would otherwise take such a scale over, and clip what does not fit into [0, 1). Only if
        all inputs have the same fixed scale, as the outputs of several sigmoids have, the output has it too.
        """
        given: Any = node.args[0] if annotation.operands is None else node.args[: annotation.operands]
        # The group has the observer of an activation, whatever else there is.
        tensors: list[Any] = sorted(dict.fromkeys(given), key=constants.__contains__)
        if any(tensor in constants and not _is_finite(tensor) for tensor in tensors):
            return False  # int8 has no number for infinity
        first = tensors[0]
        fixed = [scale_of(tensor) for tensor in tensors]
        fixed = [spec if isinstance(spec, FixedQParamsQuantizationSpec) else None for spec in fixed]
        joined = {tensor for tensor, spec in zip(tensors, fixed) if spec is None}
        if not joined and all(spec == fixed[0] for spec in fixed):
            joined = set(tensors)
        inputs: dict[Node, QuantizationSpecBase] = dict.fromkeys(tensors, SharedQuantizationSpec((first, node)))
        inputs[first] = self._input(first) if first in joined else self.activation
        self._mark(node, inputs, SharedQuantizationSpec((first, node)))
        return True

    # Helpers ----------------------------------------------------------------

    def _input(self, source: Node) -> QuantizationSpecBase:
        """The spec for reading `source`: that of its output if it has one, so that nothing
        is requantized between two operators."""
        annotation: Optional[QuantizationAnnotation] = source.meta.get(Q_ANNOTATION_KEY)
        if annotation is not None and annotation.output_qspec is not None:
            return SharedQuantizationSpec(source)
        return self.activation

    def _mark_with_activation(
        self,
        node: Node,
        inputs: dict[Node, QuantizationSpecBase],
        batch_norms: frozenset[str] = frozenset(),
    ) -> None:
        """Annotates `node`; if its only consumer is an activation, the output is that one's. So it is with
        one of `batch_norms`, which `prepare_qat_pt2e` folds after annotation, if nothing is quantized
        between them."""
        chain = [node]
        for targets in (batch_norms, _ACTIVATIONS):
            users = list(chain[-1].users)
            if len(users) == 1 and str(users[0].target) in targets:
                chain.append(users[0])
        for member in chain:
            self._mark(
                member,
                inputs if member is node else {},
                self.activation if member is chain[-1] else None,
            )

    @staticmethod
    def _fixed(scale: float, zero_point: int) -> FixedQParamsQuantizationSpec:
        return FixedQParamsQuantizationSpec(
            dtype=torch.int8,
            scale=scale,
            zero_point=zero_point,
            quant_min=-128,
            quant_max=127,
            qscheme=torch.per_tensor_affine,
        )

    @staticmethod
    def _mark(
        node: Node,
        inputs: dict[Node, QuantizationSpecBase],
        output: Optional[QuantizationSpecBase],
    ) -> None:
        node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
            input_qspec_map=inputs, output_qspec=output, _annotated=True
        )


def _works(node: Node) -> bool:
    """Returns whether the operator computes something, and does not only move or limit values."""
    return str(node.target) in _WORKING


def _argument(node: Node, name: str) -> Any:
    """An argument of a call, or its default."""
    overload: Any = node.target
    for position, declared in enumerate(overload._schema.arguments):
        if declared.name == name:
            given = node.args[position] if position < len(node.args) else node.kwargs.get(name)
            return declared.default_value if given is None else given
    raise KeyError(f"{node.target} has no argument {name}")


def _is_float(node: Node) -> bool:
    return _is_tensor(node) and _value(node).dtype == torch.float32


def _is_finite(constant: Node) -> bool:
    module = constant.graph.owning_module
    data = None if module is None else evaluated(module, constant)
    return data is None or bool(data.isfinite().all())


def _is_tensor(node: Node) -> bool:
    return isinstance(_value(node), torch.Tensor)


def _value(node: Node) -> Any:
    """The fake tensor of a node, or the parameter or buffer that it reads."""
    value = node.meta.get("val")
    if node.op == "get_attr" and value is None:
        value = operator.attrgetter(str(node.target))(node.graph.owning_module)
    return value
