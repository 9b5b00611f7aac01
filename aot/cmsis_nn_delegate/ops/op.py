"""What an operator declares. One operator is one file of this folder.

Its class says everything about it that is not a kernel, for everything that works with operators:

* the quantizer: `annotation`;
* the edge program: `targets` it matches, `check` says whether (and why not) the delegate can run a node, and
  `check_data` whether it can with these weights; `build` turns the node into graph nodes;
* the graph: `output_shape`, `reference` computes it with integers in numpy, bit for bit what the kernels
  compute, and traits and `read_reshaped` say what passes may do with it;
* the payload: `kernels` with their argument blocks, from which C++ is generated; `kernel_of`,
  `scratch_bytes`, `constants` and `encode` give the call record;
* tests and docs: `draws` has random cases, `limits` what users have to know.

Operators that only exist before the passes have run (`reshape`, `pad`, `clamp`) have no kernel; those that
passes create have no targets. `completeness` finds what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Optional

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.record import Role
from ..graph.ir import Node, Value
from ..graph.tensor_type import TensorType
from ..target import Target
from . import storage
from .annotation import Annotation
from .kernel import KernelSpec

if TYPE_CHECKING:
    from .random_case import RandomCase

# Draws the node of one random case; returns its output.
Draw = Callable[["RandomCase"], Value]


class Op:
    """Base class; see the module docstring. Operators have no state."""

    name: ClassVar[str]
    # Edge operators (the strings of their overloads, e.g. "aten.linear.default").
    targets: ClassVar[tuple[str, ...]] = ()
    annotation: ClassVar[Annotation]
    # The dataclass of a node's attributes; None for operators without.
    attrs: ClassVar[Optional[type]] = None
    # Of operators that reach the payload.
    kernels: ClassVar[tuple[KernelSpec, ...]] = ()
    # How to draw random cases, in turn: together they reach all that is special about the operator.
    draws: ClassVar[tuple[Draw, ...]] = ()
    # What is delegated and what is not, in the user's terms, a sentence each.
    limits: ClassVar[tuple[str, ...]] = ()

    # Traits -----------------------------------------------------------------

    # Whether it computes something; what only moves, converts or limits values stays in float between
    # operators that do, since quantizing for it alone would cost more than it saves.
    computes: ClassVar[bool] = True
    # Whether it only moves values or converts them between float and int8.
    only_moves: ClassVar[bool] = False
    # Whether input and output have one scale and zero point whatever is quantized around it.
    keeps_quant: ClassVar[bool] = False
    # Whether it takes its input, or gives its output, as a sequence of elements or rows: shapes mean nothing to it.
    shapeless_input: ClassVar[bool] = False
    shapeless_output: ClassVar[bool] = False
    # Whether the kernel may store its output over an input of the same size.
    in_place: ClassVar[bool] = False

    # Edge program -----------------------------------------------------------

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        """Whether this operator is the one for `node`, where several have its target."""
        return True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Returns why the delegate cannot run edge node `node`, and None if it can. Asks for shapes, types, parameters
        and quantization, which a program without data has as well: partitioners get such programs."""
        raise NotImplementedError(f"{self.name} does not match edge nodes")

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Returns why the kernel cannot take the constants of a node that `check` accepted, and None if it can. Asked
        only where the program has their data."""
        return None

    def companions(self, node: EdgeNode, context: EdgeContext) -> Iterable[EdgeNode]:
        """Edge nodes, not adjacent to `node`, without which it cannot be delegated."""
        return ()

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        """The graph nodes, mostly one, of an edge node that `check` and `check_data` accepted."""
        raise NotImplementedError(f"{self.name} does not match edge nodes")

    # Graph ------------------------------------------------------------------

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        """The logical shape of the output: by default that of the first input."""
        return inputs[0].shape

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """The output of `node` in storage order; `inputs` are its activations in storage order."""
        raise NotImplementedError(f"{self.name} has no reference: a pass should have removed it")

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        """All outputs of `node`, which changes `states` in place. Operators with several outputs, or with a state,
        define this in the place of `reference`."""
        return [self.reference(node, inputs)]

    def macs(self, node: Node) -> int:
        """Multiplications of the kernel, padding included; 0 for operators without weights."""
        return 0

    def absorbs_padding(self, value: float, image: TensorType) -> bool:
        """Whether a pad of the real number `value` before it can become its own padding."""
        return False

    def read_reshaped(self, node: Node, reshape: Node) -> bool:
        """Makes `node`, which reads the result of `reshape`, fit the reshape's input, and returns True; the caller
        exchanges the operand. Returns False if `node` cannot be made to fit, and leaves it as it is."""
        source, output = reshape.inputs[0], reshape.output
        return not storage.moves(source, output) and (self.shapeless_input or source.shape == output.shape)

    def write_reshaped(self, node: Node, reshape: Node) -> bool:
        """Whether `node`, the result of which only `reshape` reads, may write the reshape's output instead."""
        source, output = reshape.inputs[0], reshape.output
        return not storage.moves(source, output) and (self.shapeless_output or source.shape == output.shape)

    # Payload ----------------------------------------------------------------

    def variant(self, node: Node) -> str:
        """Which of the kernels for the same elements `node` takes (`KernelSpec.variant`)."""
        return ""

    def kernel_of(self, node: Node) -> KernelSpec:
        """The kernel for the variant of `node` and the elements of its tensors. ValueError if there is none."""
        variant = self.variant(node)
        candidates = [kernel for kernel in self.kernels if kernel.variant == variant]
        found = next((kernel for kernel in candidates if _mismatch(kernel, node) is None), None)
        if found is not None:
            return found
        if not candidates:
            raise ValueError(f"{node.name}: {self.name} has no kernel: a pass should have removed it")
        field, value = _mismatch(candidates[0], node) or ("", node.inputs[0])
        raise ValueError(
            f"{value.name} is {value.element.value}; there is no kernel {candidates[0].name} for that: "
            f"its {field} is {' or '.join(kernel.elements[field].value for kernel in candidates)}"
        )

    def legalize_for_cmsis_nn(self, node: Node) -> None:
        """Changes `node` to an equal one that CMSIS-NN's function computes on every core. ValueError if there is
        none."""

    def scratch_bytes(self, node: Node, target: Target) -> int:
        """Size of the working memory that CMSIS-NN's kernel needs on `target`, 0 for none."""
        return 0

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        """Arrays to put into the payload, by the name of the reference field that names them."""
        return {}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        """The fields of the argument block.

        `refs` has a reference for every field of type REF of the block: activations,
        constants and scratch, `NO_REF` where there is none.
        """
        raise NotImplementedError(f"{self.name} cannot be encoded: a pass should have removed it")

    def operands(self, node: Node, role: Role) -> Mapping[str, Value]:
        """What the reference fields of `role` name, by field, in order: see `operands`."""
        return operands(self.kernel_of(node), node, role)


def operands(kernel: KernelSpec, node: Node, role: Role) -> Mapping[str, Value]:
    """What the reference fields of `role` (INPUT, FILTER, STATE or OUTPUT) name, by field, in order. The filter is
    the input of the node after those of role INPUT."""
    fields = kernel.args.names_of(role)
    if role is Role.FILTER:
        return dict(zip(fields, node.inputs[len(kernel.args.names_of(Role.INPUT)) :]))
    return dict(zip(fields, {Role.INPUT: node.inputs, Role.OUTPUT: node.outputs, Role.STATE: node.states}[role]))


def _mismatch(kernel: KernelSpec, node: Node) -> Optional[tuple[str, Value]]:
    """The first field, and what `node` has for it, of other elements than `kernel` takes."""
    for field, element in kernel.elements.items():
        value = operands(kernel, node, kernel.args.field(field).refers_to.role).get(field)
        if value is not None and value.element is not element:
            return field, value
    return None
