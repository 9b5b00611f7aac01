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

    def kernel_of(self, node: Node) -> KernelSpec:
        """The kernel for `node`, of those that the operator has."""
        if len(self.kernels) != 1:
            raise NotImplementedError(f"{self.name} has {len(self.kernels)} kernels: it has to choose one")
        return self.kernels[0]

    def scratch_bytes(self, node: Node, target: Target) -> int:
        """Size of the working memory that the kernel needs on `target`, 0 for none."""
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

    def activation_fields(self, node: Node) -> tuple[Sequence[str], str]:
        """Names of the reference fields of the activation inputs, in order, and of the output."""
        args = self.kernel_of(node).args
        (output,) = args.names_of(Role.OUTPUT)
        return args.names_of(Role.INPUT), output
