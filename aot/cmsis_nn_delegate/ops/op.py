"""What an operator declares. Each operator is one file in this folder.

Its class says everything about the operator except how its kernels compute it, which `providers` say, for each part
that works with operators:

* the quantizer: `annotation`;
* the edge program: `targets` are the operators that it matches, `check` says whether the delegate can run a node
  (and why not), `check_data` whether it can with these weights; `build` turns the node into graph nodes;
* the graph: `output_shape`; `reference` computes the same bits as the kernels, with integers in numpy; the traits
  and `read_reshaped` say what passes may do with the operator;
* the payload: `kernels` with their argument blocks, from which C++ is generated; `kernel_of`, `constants` and `encode`
  give the call record; `features` say what its instructions depend on;
* tests and docs: `draws` makes random cases, `limits` says what users have to know.

Operators that only exist before the passes have run (`reshape`, `pad`, `clamp`) have no kernel, and neither have
those that only say where values lie (`join`); those that passes create have no targets. `completeness` finds what is
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Optional

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.element import COMMON_ELEMENT
from ..format.record import Role
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from . import channels, storage
from .annotation import Annotation
from .case import Case
from .channels import Bounds, Link
from .features import Features, elements
from .kernel import KernelSpec
from .layouts import Layouts

# Draws the node of one random case; returns its output.
Draw = Callable[[Case], Value]


class Place(NamedTuple):
    """`inner` lies inside of `outer`, `offset` bytes from its start."""

    inner: Value
    outer: Value
    offset: int


class Op:
    """Base class; see the module docstring. Operators have no state."""

    name: ClassVar[str]
    # Edge operators, as the strings of their overloads, e.g. "aten.linear.default".
    targets: ClassVar[tuple[str, ...]] = ()
    # Those of PyTorch that would be decomposed by default, and are better taken whole (`decompose.KEPT`). Operators
    # that ExecuTorch never decomposes, or turns into something equally good, need not be here: convolution, avg_pool2d,
    # _softmax.
    whole: ClassVar[tuple[str, ...]] = ()
    annotation: ClassVar[Annotation]
    # The dataclass of a node's attributes; None for operators without attributes.
    attrs: ClassVar[Optional[type]] = None
    # The kernels of an operator that reaches the payload.
    kernels: ClassVar[tuple[KernelSpec, ...]] = ()
    # The operators that passes make of it, if it has no kernel and each of its nodes needs one of theirs.
    becomes: ClassVar[tuple[str, ...]] = ()
    # Draw random cases, used in turn: together they cover every special case of the operator.
    draws: ClassVar[tuple[Draw, ...]] = ()
    # What is delegated and what is not, in the user's terms, one sentence each.
    limits: ClassVar[tuple[str, ...]] = ()

    # Traits -----------------------------------------------------------------

    # The types that its activations may have, all of one node the same. None if operands have types of their own, which
    # `check` then asks for.
    elements: ClassVar[Optional[tuple[Element, ...]]] = (COMMON_ELEMENT,)
    # Whether it computes something. Operators that only move, convert or limit values stay in float between
    # operators that stay in float, because quantizing for them alone would cost more than it saves.
    computes: ClassVar[bool] = True
    # Whether it only moves values or converts them between float and int8.
    only_moves: ClassVar[bool] = False
    # Whether input and output share one scale and zero point, whatever is quantized around them.
    keeps_quant: ClassVar[bool] = False
    # Whether its result has a type of its own, whatever that of its inputs is.
    converts: ClassVar[bool] = False
    # Whether it treats its input or output as a sequence of elements or rows, whatever their shape.
    shapeless_input: ClassVar[bool] = False
    shapeless_output: ClassVar[bool] = False
    # Whether it takes images, by `storage.nhwc`, which a sequence may be too.
    takes_images: ClassVar[bool] = False
    # Whether the kernel may store its output over an input of the same size.
    in_place: ClassVar[bool] = False
    # Whether each channel of the output is computed of the same channels of its activations, and all in the same way:
    # what `links` and `channel_parameters` say.
    each_channel: ClassVar[bool] = False
    # The memory order of its images; `layouts_of` if that depends on the node.
    layouts: ClassVar[Layouts] = Layouts.CHANNELS_LAST
    # Whether its result is an index, int64, which operators outside of the delegate may read and those inside do not.
    gives_index: ClassVar[bool] = False
    # Whether it is no call, and only says which values lie inside of others (`places`).
    only_places: ClassVar[bool] = False

    def takes(self, node: EdgeNode, element: Element) -> bool:
        """Returns whether the kernels for `element`, one of `elements`, compute a node of `annotation` of the exported
        program, as far as its sizes tell. The quantizer gives those that they do not the common type."""
        return True

    # Edge program -----------------------------------------------------------

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        """Returns whether this operator is the one for `node`, if several have its target."""
        return True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Returns why the delegate cannot run edge node `node`, and None if it can. It uses only shapes, types,
        parameters and quantization, because partitioners may get programs without data."""
        raise NotImplementedError(f"{self.name} does not match edge nodes")

    def refuse(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Returns why the delegate cannot run edge node `node`, by `check` and by the types of its tensors."""
        refusal = None if self.elements is None else context.refuse_elements(node, self.elements)
        return refusal or self.check(node, context)

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Returns why the kernel cannot take the constants of a node that `check` accepted, and None if it can. Called
        only if the program contains their data."""
        return None

    def companions(self, node: EdgeNode, context: EdgeContext) -> Iterable[EdgeNode]:
        """Returns edge nodes that are not adjacent to `node` but must be delegated with it."""
        return ()

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        """Returns the graph nodes, usually one, for an edge node that `check` and `check_data` accepted."""
        raise NotImplementedError(f"{self.name} does not match edge nodes")

    # Graph ------------------------------------------------------------------

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        """Returns the logical shape of the output, by default that of the first input."""
        return inputs[0].shape

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Returns the output of `node` in storage order; `inputs` are its activations in storage order."""
        raise NotImplementedError(f"{self.name} has no reference: a pass should have removed it")

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Returns all outputs of `node` and updates `states` in place. Operators with several outputs or with a state
        define this instead of `reference`."""
        return [self.reference(node, inputs)]

    def macs(self, node: Node) -> int:
        """Returns the number of multiplications of the kernel, including padding; 0 for operators without weights."""
        return 0

    def features(self, node: Node) -> Features:
        """Returns what the instructions of its kernels depend on, by default the elements that they read and write."""
        return Features(elements(node))

    def scratch_bytes(self, node: Node) -> int:
        """Returns how many bytes every kernel needs besides inputs and outputs, for what a call keeps from one of its
        steps to the next."""
        return 0

    def layouts_of(self, node: Node) -> Layouts:
        """Returns the memory order of the images of `node`."""
        return self.layouts

    def moved_bytes(self, node: Node) -> int:
        """Returns how many bytes a node of `Layouts.ANY` moves because of the layouts that its images have now. What
        it moves in any case need not count. `assign_layouts` chooses the layouts for which the sum is least."""
        return 0

    def absorbs_padding(self, value: float, image: TensorType) -> bool:
        """Returns whether a preceding pad with the real number `value` can become this operator's own padding."""
        return False

    def read_reshaped(self, node: Node, reshape: Node) -> bool:
        """Adapts `node`, which reads the result of `reshape`, to read the reshape's input, and returns True; the caller
        then replaces the operand. Returns False and leaves `node` unchanged if that is impossible."""
        source, output = reshape.inputs[0], reshape.output
        return not storage.moves(source, output) and (
            self.shapeless_input or source.shape == output.shape or (self.takes_images and _is_row_of(source, output))
        )

    def write_reshaped(self, node: Node, reshape: Node) -> bool:
        """Returns whether `node`, whose result only `reshape` reads, may write the reshape's output instead."""
        source, output = reshape.inputs[0], reshape.output
        return not storage.moves(source, output) and (
            self.shapeless_output or source.shape == output.shape or (self.takes_images and _is_row_of(output, source))
        )

    # Channels ---------------------------------------------------------------

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        """Returns between which integers the output lies if the inputs, constants included, lie within theirs."""
        clamp = getattr(node.attrs, "clamp", None)
        full = channels.unbounded(node.output)
        return full if clamp is None else full.limited(*clamp.quantized(node.output.type))

    def links(self, node: Node) -> Optional[Sequence[Link]]:
        """Returns which channels of inputs the channels of the output are computed of, one by one; channels of other
        activations must all stay. None if all channels of all inputs and of the output must."""
        return channels.links_of_each(node) if self.each_channel else None

    def weighted(self, node: Node) -> bool:
        """Returns whether each output channel is a sum of all channels of the first input, times constant weights."""
        return False

    def sees_padding(self, node: Node) -> bool:
        """Returns whether some sums of a `weighted` node count fewer inputs than others."""
        return False

    def narrow(self, node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
        """Adapts attributes and constants of a node that `links` or is `weighted`, if its first input and its output
        only keep the channels at which the masks `inputs` and `outputs` are true. A weighted node has weights of 0 for
        those of its input that go."""
        channels.narrow_constants(node, outputs)

    def channel_parameters(self, node: Node) -> Optional[Sequence[bytes]]:
        """Returns, for each channel of the output, what it depends on besides the channels that `links` names, or the
        input of a `weighted` node: of two equal channels with equal parameters the results are equal. None if
        unknown."""
        return channels.no_parameters(node) if self.each_channel else None

    # Indices ----------------------------------------------------------------

    def index_range(self, node: Node, value: Value) -> Optional[tuple[int, int]]:
        """Returns the least and the greatest number that `node` takes of its input `value` as integers that are no
        activations; None if it takes none of them so."""
        return None

    def carried(self, node: Node) -> Collection[int]:
        """Returns the dimensions of the output along which each index is computed of the same index of every operand of
        that rank, or of the only one that the operand has there."""
        return ()

    def window(self, node: Node) -> Optional[tuple[int, int]]:
        """Returns (height, width) of the windows of the first input of which the elements of the output are computed,
        with a stride, padding and dilation in `attrs`; None for operators without windows."""
        return None

    # Payload ----------------------------------------------------------------

    def places(self, node: Node) -> Sequence[Place]:
        """Returns which values of `node` lie inside of others, for an operator that `only_places`."""
        return ()

    def variant(self, node: Node) -> str:
        """Returns which of several kernels for the same elements `node` uses (`KernelSpec.variant`). That must not
        depend on the providers, whose kernels compute each other's calls: where CMSIS-NN computes only some sizes, the
        others have a kernel of their own for all providers."""
        return ""

    def kernel_of(self, node: Node) -> KernelSpec:
        """Returns the kernel for the variant of `node` and the elements of its tensors. ValueError if there is none."""
        variant = self.variant(node)
        candidates = [kernel for kernel in self.kernels if kernel.variant == variant]
        found = next((kernel for kernel in candidates if mismatch(kernel, node) is None), None)
        if found is not None:
            return found
        if not candidates:
            raise ValueError(f"{node.name}: {self.name} has no kernel: a pass should have removed it")
        field, value = mismatch(candidates[0], node) or ("", node.inputs[0])
        raise ValueError(
            f"{value.name} is {value.element.value}; there is no kernel {candidates[0].name} for that: "
            f"its {field} is {' or '.join(dict.fromkeys(kernel.elements[field].value for kernel in candidates))}"
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        """Returns the arrays to put into the payload, by the reference field that names them."""
        return {}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        """Returns the fields of the argument block.

        `refs` has a reference for every field of type REF in the block: activations, constants and scratch
        memory, and `NO_REF` for fields that name nothing.
        """
        raise NotImplementedError(f"{self.name} cannot be encoded: a pass should have removed it")

    def operands(self, node: Node, role: Role) -> Mapping[str, Value]:
        """Returns what the reference fields of `role` name, by field and in order; see `operands`. An operator without
        a call only has inputs."""
        if self.only_places:
            return {f"input{i}": value for i, value in enumerate(node.inputs)} if role is Role.INPUT else {}
        return operands(self.kernel_of(node), node, role)


def operands(kernel: KernelSpec, node: Node, role: Role) -> Mapping[str, Value]:
    """Returns what the reference fields of `role` (INPUT, FILTER, STATE or OUTPUT) name, by field and in order. The
    filter is the node's input after those of role INPUT."""
    return dict(zip(kernel.args.names_of(role), _values(kernel, node, role)))


def _values(kernel: KernelSpec, node: Node, role: Role) -> Sequence[Value]:
    """Returns the values of `role` in `node`, the first of which the first field of that role names."""
    if role is Role.FILTER:
        return node.inputs[len(kernel.args.names_of(Role.INPUT)) :]
    return node.inputs if role is Role.INPUT else node.outputs if role is Role.OUTPUT else node.states


def _is_row_of(sequence: Value, image: Value) -> bool:
    """Whether `image` is `sequence`, which lies in memory like it, as an image of one row."""
    n, c, *size = sequence.shape if storage.is_row(sequence.shape) else (0, 0)
    return image.shape == (n, c, 1, *size)


def mismatch(kernel: KernelSpec, node: Node) -> Optional[tuple[str, Value]]:
    """Returns the first field whose value in `node` has other elements than `kernel` takes, with that value; None if
    there is none."""
    for role in (Role.INPUT, Role.FILTER, Role.STATE, Role.OUTPUT):
        for field, value in zip(kernel.args.names_of(role), _values(kernel, node, role)):
            if value.element is not kernel.elements.get(field, value.element):
                return field, value
    return None
