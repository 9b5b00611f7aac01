"""What an operator has to provide. One operator is one file of this folder.

An operator is known in three places, and its class serves all of them:

* the edge program: `targets` it matches, `check` says whether (and why not) the
  delegate can run a node, `build` turns the node into a graph `Node`;
* the graph: `reference` computes it with integers in numpy, bit for bit what the
  kernels compute;
* the payload: `scratch_bytes`, `constants` and `encode` give the call record.

Operators that only exist before the passes have run (`reshape`, `pad`, `clamp`)
leave out the last group; those that the passes create leave out the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from ..edge.refusal import Refusal
from ..graph.ir import Node
from ..payload.schema import Opcode
from ..target import Target


class Op:
    """Base class; see the module docstring. Operators have no state."""

    name: ClassVar[str]
    # Edge operators (the strings of their overloads, e.g. "aten.linear.default").
    targets: ClassVar[tuple[str, ...]] = ()
    # The kernel, for operators that reach the payload.
    opcode: ClassVar[Optional[Opcode]] = None
    # Whether the kernel may store its output over an input of the same size.
    in_place: ClassVar[bool] = False

    # Edge program -----------------------------------------------------------

    def claims(self, node: Any, context: Any) -> bool:
        """Whether this operator is the one for `node`, where several have its target."""
        return True

    def check(self, node: Any, context: Any) -> Optional[Refusal]:
        """None if the delegate can run edge node `node`, else why not."""
        raise NotImplementedError(f"{self.name} does not match edge nodes")

    def companions(self, node: Any, context: Any) -> Iterable[Any]:
        """Edge nodes, not adjacent to `node`, without which it cannot be delegated."""
        return ()

    def build(self, node: Any, context: Any) -> list[Node]:
        """The graph nodes, mostly one, of an edge node that `check` accepted."""
        raise NotImplementedError(f"{self.name} does not match edge nodes")

    # Graph ------------------------------------------------------------------

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """The output of `node` in storage order; `inputs` are its activations in storage order."""
        raise NotImplementedError(f"{self.name} has no reference: a pass should have removed it")

    def macs(self, node: Node) -> int:
        """Multiplications of the kernel, padding included; 0 for operators without weights."""
        return 0

    # Payload ----------------------------------------------------------------

    def opcode_of(self, node: Node) -> Optional[Opcode]:
        """The kernel for `node`, of those that the operator has."""
        return self.opcode

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
        return ("input",), "output"
