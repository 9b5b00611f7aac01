"""What the kernels of recurrent layers have in common that compute several rows of a gate at a time: the argument block
of their operator with a table of weights in the order of the products, and scratch memory for the gates of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...format import blocks
from ...format.cpp import camel
from ...format.record import I32, Field, Struct
from ...graph.ir import Node
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ...ops.recurrent import LENGTHS, Recurrent, Sizes
from ...ops.registry import OPS
from ..implementation import OwnImplementation, Symbol

# Fields of the operator's argument block in the place of which there is a table.
_IN_TABLE = ("filter", "recurrent", "bias", "recurrent_bias", "rows", "projection", "projection_bias")


def struct(
    name: str, like: KernelSpec, doc: str, rows: int, table: str, block_words: str, projection: Sequence[Field] = ()
) -> Struct:
    """Returns the argument block of a kernel that computes `rows` rows at a time, for the calls of `like`. `projection`
    are the reference to a table with the weight of a projection, and its sizes."""
    fields = [field for field in like.args.fields if field.name not in _IN_TABLE]
    after = next(index for index, field in enumerate(fields) if field.name == "scratch_bytes") + 1
    own = (
        Field("blocks", I32, f"hidden / {rows}, rounded up, for each gate"),
        Field("block_words", I32, block_words),
    )
    table_field = blocks.weight_table("blocks", "block_words", doc=table)
    tables, sizes = (table_field, *projection[:1]), (*own, *projection[1:])
    return Struct(name, doc, (fields[0], *tables, *fields[1:after], *sizes, *fields[after:]))


class RecurrentRows(OwnImplementation):
    """Base class. Each block of the table has `rows` rows of a gate, with those of missing units filled up with zeros,
    and the weights of a row are filled up to a multiple of `depth`."""

    rows: ClassVar[int]
    depth: ClassVar[int]
    # Of an input or output of a step in scratch memory.
    element_bytes: ClassVar[int]
    weights_of_word: ClassVar[int] = 4

    def scratch_bytes(self, node: Node) -> int:
        """Four numbers of 16 bits for each unit of a step, filled up to blocks; inputs and outputs of the step before
        in the order of the products."""
        inputs, hidden = self._depths(node)
        return 8 * self._units(node) + self.element_bytes * (inputs + hidden)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        sizes, steps = self._sizes(node), self._steps(node)
        blocks, depths = steps * self._blocks(node), self._depths(node)
        return Features(
            {
                "starts": sizes.batch * sizes.hidden,
                "steps": steps,
                "units": steps * sizes.hidden,
                "blocks": blocks,
                "products": blocks * sum(depths) // self.depth,
                "inputs": steps * sum(depths) // self.depth,
                "last inputs": steps * (sizes.inputs % self.depth + op_of(node).width(node) % self.depth),
            }
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        """For each block: the sums over the inputs for inputs of 0, their weights; the same of the hidden state."""
        hidden = self._sizes(node).hidden
        missing = ((0, 0), (0, self._units(node) - hidden), (0, 0))
        parts = []
        for value, starts in zip(node.inputs[-4:-2], op_of(node).biases(node)):
            weights = value.constant.reshape(-1, hidden, value.shape[1])
            rows = np.pad(weights, missing).reshape(-1, value.shape[1])
            parts.append(self.table(rows, np.pad(starts.reshape(-1, hidden, 1), missing).reshape(-1)))
        return {"table": np.concatenate(parts, axis=1)}

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Returns int32 [blocks, words] for weights [rows, size] and their starts [rows]; whole blocks of rows."""
        raise NotImplementedError(self.name)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        fields = OPS[node.op].encode(node, refs, scratch_bytes)
        return {
            **{name: value for name, value in fields.items() if name in refs or name not in _IN_TABLE},
            "blocks": self._blocks(node),
            "block_words": 2 * self.rows + self.rows * sum(self._depths(node)) // self.weights_of_word,
        }

    def _sizes(self, node: Node) -> Sizes:
        return op_of(node).sizes(node)

    def _steps(self, node: Node) -> int:
        sizes = self._sizes(node)
        return sizes.steps * sizes.batch

    def _units(self, node: Node) -> int:
        """Returns how many units the blocks of a gate have."""
        return blocks_of(self._sizes(node).hidden, self.rows) * self.rows

    def _blocks(self, node: Node) -> int:
        return len(op_of(node).gates) * self._units(node) // self.rows

    def _depths(self, node: Node) -> tuple[int, int]:
        """Returns how many inputs and outputs a row has weights for."""
        sizes = self._sizes(node).inputs, op_of(node).width(node)
        inputs, outputs = (blocks_of(size, self.depth) * self.depth for size in sizes)
        return inputs, outputs


def layer(
    own: type[RecurrentRows], like: KernelSpec, kind: str, table: str, block_words: str, helpers: Sequence[str]
) -> RecurrentRows:
    """Returns what computes the calls of `like`, a kernel of the operator of `own`, in the way of `own`. Its kernel is
    called as `like`, with `kind` before the type of activations that are not int8; `table` and `block_words` are docs
    of fields."""
    op = OPS[own.op]
    stem, *activations = like.name.partition("_int16")
    name = "".join((stem, f"_{kind}", *activations))
    without_lengths = name.replace(f"_{LENGTHS}", "")
    doc = (
        f"{like.elements['input'].value} {op.name.upper()} layer in one direction, as {like.name} computes it, from "
        "weights in the order of the products."
    )
    args = struct(f"{camel(name)}Args", like, doc, own.rows, table, block_words)
    kernel = KernelSpec(name, args, priced_as="" if name == without_lengths else without_lengths)
    draws = (op.draws[op.kernels.index(like)],)
    declared = {"name": name, "like": like, "draws": draws, "symbol": Symbol(kernel, helpers=tuple(helpers))}
    found: RecurrentRows = type(camel(name), (own,), declared)()
    return found


def op_of(node: Node) -> Recurrent:
    op = OPS[node.op]
    assert isinstance(op, Recurrent)
    return op
