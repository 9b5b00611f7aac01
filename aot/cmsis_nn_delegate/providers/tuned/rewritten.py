"""Implementations that give a node to the kernel of another one, as the node that this kernel computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...graph.ir import Node
from ...ops.features import Features
from ..implementation import OwnImplementation


class Rewritten(OwnImplementation):
    """Takes scratch memory, features, constants and argument block of `kernel` for the node that `rewritten` returns.
    `distance` is not taken: where an output may overlap its input, a class says so itself."""

    def __init__(self, kernel: OwnImplementation) -> None:
        self._kernel = kernel
        self.symbol = kernel.symbol

    def rewritten(self, node: Node) -> Node:
        """Returns the node that computes the same."""
        raise NotImplementedError

    def scratch_bytes(self, node: Node) -> int:
        return self._kernel.scratch_bytes(self.rewritten(node))

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return self._kernel.features(self.rewritten(node), scratch_bytes)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return self._kernel.constants(self.rewritten(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return self._kernel.encode(self.rewritten(node), refs, scratch_bytes)
