"""PT2E quantizer: marks what the delegate can run with the int8 scheme of its kernels.

    module = quantizable_module(torch.export.export(model.eval(), inputs))
    prepared = prepare_pt2e(module, CmsisNnQuantizer())
    for batch in calibration: prepared(*batch)
    converted = convert_pt2e(prepared)

Activations are int8, affine, per tensor, in [-128, 127]. Weights are int8, symmetric,
per output channel (axis 0), in [-127, 127]: without -128 a product of two of them never
overflows a kernel's 16-bit pairs. If asked for, those of 4 bits are in [-7, 7], so that a sign costs no
bit, with the scales that round them best (`weight_observers`). Biases are int32 with scale s_input * s_weight.

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

import math
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional, Union

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Node
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

from ..edge.nodes import pair
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS, Element
from ..ops.annotation import (
    Annotation,
    Elementwise,
    Energies,
    FixedOutput,
    IndexOutput,
    JoinedScale,
    KeptSum,
    LookUp,
    OfIntegers,
    RecurrentLayer,
    SameScale,
    Samples,
    Unary,
    Weighted,
)
from ..ops.registry import OPS
from ..ops.transpose_conv2d import becomes_convolution
from ..support.checked import checked
from . import configuration_file, overrides
from .configuration import SKIP, Configuration, QuantizationConfig
from .fixed_ranges import fix_ranges
from .float_conditions import conditions_in_float
from .in_place import DROPOUT, constant_nodes, replace_in_place, written_state
from .narrowed import keep_asked, keep_wide_weights
from .overrides import settings_of, stays_float
from .prepare import BATCH_NORM, remove_identities
from .products import split_attention_in_float
from .rewrites import rewrite
from .rewriting import evaluated
from .shared_scales import owner_of, point_to_first, scale_of, set_spec, spec_of
from .sound import SAMPLE, find_sound, fix_samples, is_sound
from .specs import ELEMENT, MASK, MASKED_SCORES, RANGE, Specs, element_of_spec, fixed_like, fixed_range
from .state_scales import narrow_readers, read_states_once, share_state_scales, states_in_float
from .worthwhile import drop_workless

# What operators say about being quantized, by the names of their overloads in exported programs.
# A target can have several annotations. They are tried in order, those of one activation first.
_ANNOTATIONS: dict[str, list[Annotation]] = {}
for _op in sorted(OPS.values(), key=lambda op: not isinstance(op.annotation, Unary)):
    for _target in _op.annotation.targets:
        _ANNOTATIONS.setdefault(_target, []).append(_op.annotation)
_BATCH_NORMS = frozenset(map(str, BATCH_NORM))
_ACTIVATIONS = frozenset(OPS["clamp"].annotation.targets)
_DROPOUT = SameScale(())
# By the identity of an annotation, its operator, and what the operator's kernels compute in.
_OP_OF = {id(op.annotation): op for op in OPS.values()}
_ELEMENTS = {id(op.annotation): op.elements or (COMMON_ELEMENT,) for op in OPS.values()}
_ELEMENTS[id(_DROPOUT)] = KERNEL_ELEMENTS
_ELEMENTS.update((id(op.annotation), KERNEL_ELEMENTS) for op in OPS.values() if isinstance(op.annotation, Samples))
_SOUND = {target for op in OPS.values() if isinstance(op.annotation, Samples) for target in op.annotation.targets}
_SAMPLES = _SOUND.difference(*(op.annotation.targets for op in OPS.values() if isinstance(op.annotation, Energies)))
# By the same, the results that kernels compute with weights of 4 bits.
_SMALL_WEIGHTS = {
    id(op.annotation): {
        kernel.elements["output"] for kernel in op.kernels if kernel.elements.get("filter") is Element.INT4
    }
    for op in OPS.values()
}
# Of depthwise convolutions with kernels for weights of 4 bits, along height or width. Those with fewer taps along both
# have too few weights to gain by it.
_LONGEST_WINDOW = 3
# Of a table of 4 bits: what a row is multiplied with takes as much as 4 of its numbers.
_SHORTEST_ROW = 8
# Those of operators that only move values, which take them as they come.
_MOVES = {id(_DROPOUT), *(id(op.annotation) for op in OPS.values() if not op.computes)}
_WORKING = {target for op in OPS.values() if op.computes for target in op.annotation.targets}
# Cells beside a layer that reads an input are alone.
_WORKING |= {str(op.annotation.cells) for op in OPS.values() if isinstance(op.annotation, RecurrentLayer)}

# What a state may go through on its way to its next value: what moves it, and layers that keep it themselves.
_MOVING = {target for op in OPS.values() for target in op.annotation.targets if not op.computes}
_LAYERS = {
    *OPS["last_state"].targets,  # which read what the layer reads
    *(
        target
        for op in OPS.values()
        if isinstance(op.annotation, (RecurrentLayer, KeptSum, Energies))
        for target in op.annotation.targets
    ),
}

# What reads states of 16 bits; everything else reads them in 8.
_RESHAPES = frozenset(OPS["reshape"].annotation.targets)
_TAKING_STATES = {
    *_RESHAPES,
    *_LAYERS,
    *(
        target
        for op in OPS.values()
        if isinstance(op.annotation, RecurrentLayer)
        for target in (str(op.annotation.cells), str(op.annotation.units))
    ),
}

_DeriveQparams = Callable[[Sequence[Any]], tuple[torch.Tensor, torch.Tensor]]


def _derive_bias_qparams(observers: Sequence[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """scale[channel] = s_input * s_weight[channel], zero point 0."""
    input_scale, _ = observers[0].calculate_qparams()
    weight_scale, _ = observers[1].calculate_qparams()
    scale = input_scale.to(torch.float32) * weight_scale.to(torch.float32)
    return scale, torch.zeros_like(scale, dtype=torch.int32)


class CmsisNnQuantizer(Quantizer):
    """See the module docstring.

    preset: a key of `configuration.PRESETS`, or "int8" for the default one. observer, linear_weights: instead of the
        preset's.
    qat: for `prepare_qat_pt2e`: then the module computes with quantized numbers while it is trained, and
        scales follow moving averages of the ranges; observers have no meaning.
    equalization: None, "relu" or "relu6": evens out the ranges of channels; see the module `equalization`.
    bias_correction: gives every layer a bias, which `bias_correction.correct_biases` can correct after conversion, as
        `compile_model` does. None: as the preset says.

    The methods `set_...` override this for parts of the model; None leaves a part in float. `configuration` says which
    overrides go before others. An override that applies to nothing is an error when the model is prepared.
    """

    @checked()
    def __init__(
        self,
        observer: Optional[str] = None,
        linear_weights: Optional[str] = None,
        qat: bool = False,
        *,
        preset: str = "default",
        equalization: Optional[str] = None,
        bias_correction: Optional[bool] = None,
    ) -> None:
        super().__init__()
        self.configuration = Configuration(
            preset,
            linear_weights,
            QuantizationConfig(observer=observer),
            equalization=equalization,
            bias_correction=bias_correction,
        )
        self._specs = Specs(qat)
        self._qat = qat

    @staticmethod
    @checked()
    def of(configuration: Configuration, qat: bool = False) -> CmsisNnQuantizer:
        """Returns a quantizer with this configuration."""
        quantizer = CmsisNnQuantizer(qat=qat)
        quantizer.configuration = configuration
        return quantizer

    @staticmethod
    @checked()
    def from_file(path: Union[str, Path], qat: bool = False) -> CmsisNnQuantizer:
        """Returns a quantizer with the configuration in a YAML file; see `configuration_file`."""
        return CmsisNnQuantizer.of(configuration_file.load(path), qat)

    # Overrides --------------------------------------------------------------

    @checked()
    def set_global(self, config: Optional[QuantizationConfig]) -> CmsisNnQuantizer:
        """Overrides the preset."""
        self.configuration.everywhere = (config or SKIP).over(self.configuration.everywhere)
        return self

    @checked()
    def set_operator_type(
        self, operator: Union[str, OpOverload, OpOverloadPacket], config: Optional[QuantizationConfig]
    ) -> CmsisNnQuantizer:
        """For calls of a function of the exported program: torch.ops.aten.linear.default, torch.ops.aten.linear, or its
        name."""
        self.configuration.operator_types[str(operator)] = config or SKIP
        return self

    @checked()
    def set_module_type(
        self, module_type: Union[str, type[torch.nn.Module]], config: Optional[QuantizationConfig]
    ) -> CmsisNnQuantizer:
        """For modules of a type, with all inside of them: torch.nn.Linear, or its name."""
        name = module_type if isinstance(module_type, str) else f"{module_type.__module__}.{module_type.__qualname__}"
        self.configuration.module_types[name] = config or SKIP
        return self

    @checked()
    def set_module_name(self, module_name: str, config: Optional[QuantizationConfig]) -> CmsisNnQuantizer:
        """For a module, as `named_modules` calls it, with all inside of it."""
        self.configuration.module_names[module_name] = config or SKIP
        return self

    @checked()
    def set_range(self, name: str, low: float, high: float) -> CmsisNnQuantizer:
        """Fixes the range of a tensor and all that share its scale: of an input of the model, or of the result of a
        module. It must contain 0."""
        self.configuration.set_range(name, low, high)
        return self

    # Quantizer --------------------------------------------------------------

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Brings the graph into the forms that `annotate` knows; batch norms are folded already.

        UserError names a node that writes through a view: see `prepare.quantizable_module`.
        """
        remove_identities(model)
        replace_in_place(model)
        overrides.apply(model.graph, self.configuration, _MOVING)
        split_attention_in_float(model)
        conditions_in_float(model)
        with overrides.hidden_from_rewrites(model):
            rewrite(model, self.configuration, trained=self._qat)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        read_states_once(model.graph)
        state = written_state(model.graph)
        constants = constant_nodes(model.graph) - state
        in_float = states_in_float(model.graph, state, _MOVING, _LAYERS)
        numbers = {node for node in constants if _is_tensor(node) and _value(node).numel() == 1}
        find_sound(model.graph, _SOUND)
        for node in model.graph.nodes:
            if node.op != "call_function" or Q_ANNOTATION_KEY in node.meta:
                continue
            if node in constants:
                continue  # convert_pt2e computes it together with the quantize of its reader
            if stays_float(node):
                continue
            if RANGE in node.meta and node.target is torch.ops.aten.to.dtype:
                self._mark(node, {}, self._activation(node))  # of booleans, which have no scale
                continue
            if not in_float.isdisjoint(node.all_input_nodes) or not state.isdisjoint(_weights_of(node)):
                continue
            annotations = [_DROPOUT] if node.target in DROPOUT else _ANNOTATIONS.get(str(node.target), [])
            # A mask or indices, which are beside the input of such operators, have no scale.
            masked = all(isinstance(annotation, FixedOutput) for annotation in annotations)
            look_up = any(isinstance(annotation, LookUp) for annotation in annotations)
            samples = any(isinstance(annotation, Samples) for annotation in annotations)
            tensors = node.all_input_nodes[:1] if masked or look_up or samples else node.all_input_nodes
            tensors = [tensor for tensor in tensors if tensor is not _lengths(node)]
            if any(isinstance(annotation, OfIntegers) for annotation in annotations):
                tensors = []
            index = any(isinstance(annotation, IndexOutput) for annotation in annotations)
            if not (_is_float(node) or index) or not all(_is_float(arg) or arg in numbers for arg in tensors):
                continue
            any(self._annotate(node, annotation, constants, numbers) for annotation in annotations)
        drop_workless(model, _works)
        wide = {
            node for node in model.graph.nodes if _element_of(node) is not COMMON_ELEMENT or str(node.target) in _SOUND
        }
        narrow_readers(model.graph, _TAKING_STATES, wide, self._specs.activation(self.configuration.general()))
        share_state_scales(model.graph)
        fix_ranges(model.graph, self.configuration.ranges)
        fix_samples(model.graph, _SAMPLES, _MOVING)
        point_to_first(model.graph)
        return model

    def validate(self, model: GraphModule) -> None:
        """Checks nothing: the partitioner reports the operators that the delegate cannot run."""

    # Patterns ---------------------------------------------------------------

    def _annotate(self, node: Node, annotation: Annotation, constants: set[Node], numbers: set[Node]) -> bool:
        """Annotates `node` if `annotation` applies to it. Returns whether it does. `numbers` are the constants with one
        element."""
        asked = self._asked(node, annotation)
        takes = self._takes(node, annotation, asked)
        too_large = takes and asked is not COMMON_ELEMENT and not _takes_size(node, annotation, asked)
        node.meta[ELEMENT] = asked if takes and not too_large else COMMON_ELEMENT
        applies = self._apply(node, annotation, constants, numbers)
        if applies and _element_of(node) is not asked:
            keep_asked(node, asked, too_large)
        if applies and isinstance(annotation, (Weighted, RecurrentLayer, LookUp)):
            asked_small = self._weights_asked(node, annotation).weights == "int4" and not is_sound(node)
            if asked_small and not self._takes_small_weights(node, annotation):
                keep_wide_weights(node, _element_of(node) if isinstance(annotation, LookUp) else COMMON_ELEMENT)
        return applies

    def _apply(self, node: Node, annotation: Annotation, constants: set[Node], numbers: set[Node]) -> bool:
        """Annotates `node`, whose type is known, if `annotation` applies to it. Returns whether it does."""
        if isinstance(annotation, Weighted):
            return self._annotate_weighted(node, annotation)
        if isinstance(annotation, Elementwise):
            return self._annotate_elementwise(node, annotation, constants)
        if isinstance(annotation, Unary):
            return self._annotate_unary(node, annotation, constants, numbers)
        if isinstance(annotation, JoinedScale):
            return self._annotate_joined(node, annotation, constants)
        if isinstance(annotation, RecurrentLayer):
            return self._annotate_recurrent(node, annotation)
        if isinstance(annotation, KeptSum):
            return self._annotate_kept_sum(node, annotation, constants)
        if isinstance(annotation, OfIntegers):
            low, high = annotation.limits(node)
            node.meta[RANGE] = (min(low, 0.0), max(high, 0.0))
            self._mark_with_activation(node, {})
            return True
        source: Any = node.args[0]
        if isinstance(annotation, Samples):
            if isinstance(annotation, Energies):
                self._annotate_energies(node, annotation)
            else:
                self._mark(node, {source: self._input(source, node, SAMPLE)}, self._activation(node))
            return True
        if isinstance(annotation, LookUp):
            if source.op != "get_attr":
                return False
            self._annotate_look_up(node, source, annotation)
            return True
        if isinstance(annotation, IndexOutput):
            read: Any = node.args[: annotation.operands]
            self._mark(node, {tensor: self._input(tensor, node) for tensor in read}, None)
            return True
        if isinstance(annotation, FixedOutput):
            output = fixed_like(annotation.scale, annotation.zero_point, _element_of(node))
            self._mark(node, {source: self._input(source, node)}, output)
            return True
        if not isinstance(annotation, SameScale) or source in constants:
            return False
        if annotation.when is not None and not annotation.when(node):
            return False
        self._mark(node, {source: self._input(source, node)}, SharedQuantizationSpec((source, node)))
        return True

    def _annotate_look_up(self, node: Node, table: Node, annotation: LookUp) -> None:
        """Annotates a function that chooses rows of `table`. Those of 4 bits have a scale each, and so has what is
        chosen of them: its range is that of the whole table, whatever rows calibration looks up."""
        element = _element_of(node)
        whole = self._specs.table(element)
        if self._weights_asked(node, annotation).weights != "int4" or not self._takes_small_weights(node, annotation):
            self._mark(node, {table: whole}, SharedQuantizationSpec((table, node)))
            return
        symmetric = settings_of(node).over(self.configuration.general()).activations == "symmetric"
        # What training changes is not known yet.
        output = whole if self._qat else fixed_range(*_range(table), element, symmetric)
        self._mark(node, {table: self._specs.small}, output)

    def _annotate_weighted(self, node: Node, annotation: Weighted) -> bool:
        """Annotates a layer with weights together with the activation that follows it."""
        arguments: tuple[Any, ...] = node.args
        source, weight, *rest = arguments
        bias: Any = rest[0] if rest else node.kwargs.get("bias")
        if weight.op != "get_attr":
            return False  # not a constant: the partitioner says so
        inputs: dict[Node, QuantizationSpecBase]
        asked, small = self._weights_asked(node, annotation), self._takes_small_weights(node, annotation)
        spec = self._specs.weight(asked, small)
        group = self._group(node, annotation, asked) if spec is self._specs.small else 0
        if group:
            # No observer can say what the steps of the bias are.
            inputs = {source: self._input(source, node), weight: self._specs.in_groups(group)}
            self._mark_with_activation(node, inputs)
            return True
        derive: _DeriveQparams = _derive_bias_qparams
        if annotation.transposed and spec is not self._specs.per_tensor:
            spec, derive = self._transposed(node, spec is self._specs.small)
        inputs = {source: self._input(source, node), weight: spec}
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

    def _transposed(self, node: Node, small: bool) -> tuple[QuantizationSpec, _DeriveQparams]:
        """The weight of a transposed convolution, [in, out / groups, h, w], and its bias. The scales along dimension 1
        serve all groups; if a group has one input channel, dimension 0 counts the groups. `small`: of 4 bits.
        """
        weight: Any = node.args[1]
        groups = _argument(node, "groups")
        inputs, per_group = _value(weight).shape[:2]
        depthwise = inputs == groups > 1

        def derive(observers: Sequence[Any]) -> tuple[torch.Tensor, torch.Tensor]:
            scale, zero_point = _derive_bias_qparams(observers)
            if scale.numel() > 1 or per_group * groups > 1:
                scale = scale.repeat_interleave(per_group) if depthwise else scale.repeat(groups)
            return scale, torch.zeros_like(scale, dtype=zero_point.dtype)

        return self._specs.along(0 if depthwise else 1, small), derive

    def _annotate_elementwise(self, node: Node, annotation: Elementwise, constants: set[Node]) -> bool:
        operands: tuple[Any, ...] = node.args[: annotation.operands]
        if not all(isinstance(arg, Node) for arg in operands):
            return False  # a number
        if any(arg in constants and not _is_finite(arg) for arg in operands):
            return False  # a mask, for which int8 has no number
        constant = self._specs.constant(_element_of(node))
        specs = {arg: constant if arg in constants else self._input(arg, node) for arg in operands}
        self._mark_with_activation(node, specs)
        return True

    def _annotate_unary(self, node: Node, annotation: Unary, constants: set[Node], numbers: set[Node]) -> bool:
        given = (*node.args, *node.kwargs.values())
        sources = [arg for arg in given if isinstance(arg, Node) and arg not in numbers]
        if len(sources) != 1 or sources[0] in constants or _value(sources[0]).shape != _value(node).shape:
            return False
        inputs = {sources[0]: self._input(sources[0], node)}
        parameters = annotation.fixed.get(str(node.target))
        if parameters is None:
            self._mark_with_activation(node, inputs)
        else:
            self._mark(node, inputs, fixed_like(*parameters, _element_of(node)))
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
        scales = [scale_of(tensor) for tensor in tensors]
        scales = [spec if isinstance(spec, FixedQParamsQuantizationSpec) else None for spec in scales]
        joined = {tensor for tensor, spec in zip(tensors, scales) if spec is None}
        if not joined and all(spec == scales[0] for spec in scales):
            joined = set(tensors)
        inputs: dict[Node, QuantizationSpecBase] = dict.fromkeys(tensors, SharedQuantizationSpec((first, node)))
        inputs[first] = self._input(first, node) if first in joined else self._activation(node)
        self._mark(node, inputs, SharedQuantizationSpec((first, node)))
        return True

    def _annotate_recurrent(self, node: Node, annotation: RecurrentLayer) -> bool:
        """Annotates a layer whose weights are constant. What its cells need is seen where they are computed, beside the
        layer, and stated by the scale of the initial ones; what its units need, by the scale of `m0`."""
        arguments: tuple[Any, ...] = node.args
        source, *states = arguments[: 3 if annotation.cells else 2]
        after = 1 + len(states)
        small = self._weights_asked(node, annotation).weights == "int4" and self._takes_small_weights(node, annotation)
        weights = dict.fromkeys(arguments[after : after + 2], self._specs.per_gate(annotation.gates, small))
        specs: list[QuantizationSpecBase] = [
            self._specs.unit_state if annotation.unit else SharedQuantizationSpec(node)
        ]
        if annotation.cells is not None:
            cells = _beside(node, annotation.cells)
            if cells is None:
                return False  # `rewrite` adds them
            self._mark(cells, {source: self._input(source, node)}, self._specs.cells)
            specs.append(SharedQuantizationSpec(cells))
        if annotation.units is not None:
            units = _beside(node, annotation.units)
            if units is None:
                return False
            config = settings_of(node).over(self.configuration.general())
            self._mark(units, {source: self._input(source, node)}, self._specs.activation(config, _element_of(node)))
            projection, start = arguments[after + 4 : after + 6]
            weights |= {projection: self._specs.per_gate(1, small), start: SharedQuantizationSpec(units)}
        given: dict[Node, QuantizationSpecBase] = {
            state: self._state(state, spec) for state, spec in zip(states, specs)
        }
        inputs: dict[Node, QuantizationSpecBase] = {source: self._input(source, node), **given, **weights}
        self._mark(node, inputs, self._activation(node))
        last = SharedQuantizationSpec((states[-1], node))
        for reader in node.users:
            if str(reader.target) == annotation.last:
                read = {arg: inputs[arg] for arg in reader.all_input_nodes if arg in inputs}
                self._mark(reader, {node: SharedQuantizationSpec(node), **read}, last)
        return True

    def _annotate_kept_sum(self, node: Node, annotation: KeptSum, constants: set[Node]) -> bool:
        """Annotates a sum that is kept together with what gives it as a state, which sees its range."""
        arguments: tuple[Any, ...] = node.args
        state, *operands = arguments[: 1 + annotation.operands]
        last = next((user for user in node.users if str(user.target) == annotation.last), None)
        if last is None:
            return False  # `rewrite` adds it
        activations = {x: self._input(x, node) for x in operands if x not in constants}
        given = self._state(state, SharedQuantizationSpec(last))
        self._mark(node, {state: given, **activations}, self._activation(node))
        self._mark(
            last,
            {node: SharedQuantizationSpec(node), state: SharedQuantizationSpec((state, node)), **activations},
            self._specs.kept_sum,
        )
        return True

    def _annotate_energies(self, node: Node, annotation: Energies) -> None:
        """Annotates a normalization together with what gives its means as a state, if the model keeps them."""
        arguments: tuple[Any, ...] = node.args
        source, state = arguments[:2]
        steps = SharedQuantizationSpec((source, node))
        inputs: dict[Node, QuantizationSpecBase] = {source: self._input(source, node, SAMPLE)}
        inputs[state] = self._state(state, steps)
        self._mark(node, inputs, self._activation(node))
        for reader in node.users:
            if str(reader.target) == annotation.last:
                self._mark(reader, {node: SharedQuantizationSpec(node), **inputs}, steps)

    def _state(self, state: Node, spec: QuantizationSpecBase) -> QuantizationSpecBase:
        """Returns `spec` for reading an initial state. What only reshapes an input or a buffer has it too."""
        source = state
        while source.op == "call_function" and str(source.target) in _RESHAPES:
            source = source.all_input_nodes[0]
        if source is state or source.op == "call_function" or spec_of(state) is None:
            return spec
        set_spec(owner_of(state), spec)
        return SharedQuantizationSpec(state)

    # Helpers ----------------------------------------------------------------

    def _asked(self, node: Node, annotation: Annotation) -> Element:
        """Returns the type that the activations of `node` are asked to have. What only moves values leaves them as they
        are."""
        wanted = Element(str(settings_of(node).over(self.configuration.general()).format))
        if is_sound(node) and settings_of(node).format is None:
            wanted = SAMPLE
        elif id(annotation) in _MOVES:
            source = node.all_input_nodes[0]
            # Before a layer in float32, what is moved is quantized all the same.
            wanted = source.meta.get(ELEMENT, wanted if wanted.is_integer else COMMON_ELEMENT)
            if str(node.target) in _TAKING_STATES:
                wanted = element_of_spec(scale_of(source)) or wanted
        return wanted

    @staticmethod
    def _takes(node: Node, annotation: Annotation, element: Element) -> bool:
        """Returns whether kernels compute `node` in `element`."""
        hidden = MASKED_SCORES in node.meta or any(MASK in source.meta for source in node.all_input_nodes)
        narrow = isinstance(annotation, Unary) and str(node.target) in annotation.narrow
        return element in _ELEMENTS[id(annotation)] and not (hidden or narrow and element is not COMMON_ELEMENT)

    def _weights_asked(self, node: Node, annotation: Annotation) -> QuantizationConfig:
        """Returns the settings for the weights of `node`."""
        linear = isinstance(annotation, Weighted) and annotation.linear
        return settings_of(node).over(self.configuration.general(linear))

    def _group(self, node: Node, annotation: Weighted, asked: QuantizationConfig) -> int:
        """Returns how many inputs of `node`, whose weights have 4 bits, share a scale; 0 if all of an output do."""
        weight: Any = node.args[1]
        inputs, group = _value(weight).shape[-1], asked.group or 0
        grouped = annotation.linear and _element_of(node) is COMMON_ELEMENT
        return group if grouped and group and group < inputs and inputs % group == 0 else 0

    @staticmethod
    def _takes_small_weights(node: Node, annotation: Annotation) -> bool:
        """Returns whether kernels compute `node`, whose type is known, with weights of 4 bits that take less flash.
        Filters and transforms of sound have few, and keep 8."""
        if is_sound(node):
            return False
        transposed = isinstance(annotation, Weighted) and annotation.transposed
        kernels = OPS["conv2d"].annotation if transposed else annotation  # a convolution computes it
        if _element_of(node) not in _SMALL_WEIGHTS.get(id(kernels), ()):
            return False
        if isinstance(annotation, LookUp):
            table: Any = node.all_input_nodes[0]
            rows, *row = _value(table).shape
            return len(row) > 0 and math.prod(row) >= _SHORTEST_ROW
        if not isinstance(annotation, Weighted):
            return isinstance(annotation, RecurrentLayer)
        if transposed:
            return _becomes_convolution(node)
        groups = 1 if annotation.linear else _argument(node, "groups")
        if groups == 1:
            return True
        # Depthwise ones of other sizes are faster with weights of 8 bits, and few bytes larger.
        weight: Any = node.args[1]
        _, inputs, *kernel = weight.meta["val"].shape
        gaps = any(k > 1 and d > 1 for k, d in zip(kernel, pair(_argument(node, "dilation"))))
        return _element_of(node) is COMMON_ELEMENT and inputs == 1 and max(kernel) == _LONGEST_WINDOW and not gaps

    def _input(self, source: Node, node: Node, element: Optional[Element] = None) -> QuantizationSpecBase:
        """The spec with which `node` reads `source`: that of its output if it has one of the same type, so that
        nothing is requantized between two operators. `element`: instead of that in which `node` computes."""
        element = element or _element_of(node)
        annotation: Optional[QuantizationAnnotation] = source.meta.get(Q_ANNOTATION_KEY)
        if annotation is not None and annotation.output_qspec is not None:
            if element_of_spec(scale_of(source)) is element:
                return SharedQuantizationSpec(source)
        elif source.meta.get(MASK):
            return self._specs.mask(self.configuration.general())
        return self._specs.activation(self.configuration.general(), element)

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
            if len(users) == 1 and str(users[0].target) in targets and not stays_float(users[0]):
                chain.append(users[0])
        for member in chain:
            member.meta[ELEMENT] = _element_of(node)
            self._mark(
                member,
                inputs if member is node else {},
                self._activation(*chain) if member is chain[-1] else None,
            )

    def _activation(self, *chain: Node) -> QuantizationSpecBase:
        """Returns the spec for the result of a chain of functions, for which the overrides of the last go first."""
        config = self.configuration.general()
        for node in chain:
            config = settings_of(node).over(config)
        if RANGE in chain[-1].meta:
            low, high = chain[-1].meta[RANGE]
            return fixed_range(low, high, _element_of(chain[0]))
        if chain[-1].meta.get(MASKED_SCORES):
            return self._specs.masked_scores(config)
        return self._specs.activation(config, _element_of(chain[0]))

    @staticmethod
    def _mark(
        node: Node,
        inputs: dict[Node, QuantizationSpecBase],
        output: Optional[QuantizationSpecBase],
    ) -> None:
        node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
            input_qspec_map=inputs, output_qspec=output, _annotated=True
        )


def _takes_size(node: Node, annotation: Annotation, element: Element) -> bool:
    """Returns whether kernels for `element` compute `node`, which has its sizes."""
    op = _OP_OF.get(id(annotation))
    return op is None or op.takes(node, element)


def _beside(layer: Node, target: str) -> Optional[Node]:
    """Returns the call of `target` of what `layer` is called with."""
    return next((user for user in layer.all_input_nodes[0].users if _is_call(user, target, layer.args)), None)


def _is_call(node: Node, target: str, arguments: tuple[Any, ...]) -> bool:
    return str(node.target) == target and node.args == arguments


def _becomes_convolution(node: Node) -> bool:
    """Returns whether a convolution with weights of 4 bits computes a transposed one."""
    (inputs, outputs, *kernel), size = _value(node.args[1]).shape, _value(node.args[0]).shape[2:]  # type: ignore[arg-type]
    stride, padding, dilation = (pair(_argument(node, name)) for name in ("stride", "padding", "dilation"))
    weight, output = (outputs, inputs, *kernel), pair(_value(node).shape[2:])
    return becomes_convolution(weight, pair(size), stride, padding, output, dilation, _argument(node, "groups"))


def _element_of(node: Node) -> Element:
    """Returns what an annotated function computes in."""
    found: Element = node.meta.get(ELEMENT, COMMON_ELEMENT)
    return found


def _weights_of(node: Node) -> Sequence[Any]:
    """Returns the operands of a layer that have to be constants."""
    for annotation in _ANNOTATIONS.get(str(node.target), []):
        if isinstance(annotation, Weighted):
            return node.all_input_nodes[1:]
        if isinstance(annotation, RecurrentLayer):
            first = 3 if annotation.cells else 2
            return node.args[first : first + (5 if annotation.units else 4)]
    return ()


def _lengths(node: Node) -> Any:
    """Returns the argument of a recurrent layer that says how many steps each sequence has; None if it has none."""
    overload: Any = node.target
    names = [declared.name for declared in getattr(getattr(overload, "_schema", None), "arguments", ())]
    ours = str(overload).startswith("cmsis_nn_delegate.") and "lengths" in names
    return _argument(node, "lengths") if ours else None


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


def _range(constant: Node) -> tuple[float, float]:
    """Returns the least and the greatest of all numbers of a parameter or buffer, and 0."""
    data: torch.Tensor = operator.attrgetter(str(constant.target))(constant.graph.owning_module)
    return min(float(data.min()), 0.0), max(float(data.max()), 0.0)


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
