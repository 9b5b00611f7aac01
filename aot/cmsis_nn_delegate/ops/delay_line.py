"""What `delay_line_read` and `delay_line_write` have in common: rows of a signal in persistent memory, as a ring.

A state that `recall` and `keep` would copy whole, to leave out its first rows and append new ones, stays where it is:
the new rows overwrite the oldest, and the memory begins with the number of the row that is the oldest then: 4 bytes,
little-endian. As in `held`, rows are stored as the exclusive or with their initial values, so that cleared memory is
the line before the first inference. Row i of memory has row i of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..format import blocks
from ..format.record import BYTES, I32, Field, Role
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from ..support.errors import UserError
from .annotation import NotAnnotated
from .layouts import Layouts
from .op import Op

POSITION_BYTES = 4

STATE = blocks.state("state", BYTES, "state_bytes", doc="the number of the oldest row, and the rows ^ `initial`")
FIELDS = (
    blocks.operand(Role.FILTER, "initial", BYTES, ("initial_bytes",), "of one element or, if they differ, of each"),
    Field("state_bytes", I32, "4 + rows * row_bytes"),
    Field("initial_bytes", I32, "1, 2 or rows * row_bytes, and a part of row_bytes"),
    Field("rows", I32, "at least 1"),
    Field("row_bytes", I32, "at least 1"),
    Field("count", I32, "of rows that the call copies, 1 to rows"),
)


def state_of(name: str, nbytes: int) -> Value:
    """Returns the state of a line whose rows have `nbytes` together."""
    return Value(name, TensorType(Element.INT8, (POSITION_BYTES + nbytes,)))


class DelayLine(Op):
    """Base class. The last input is the initial line: one element, or as many as it has. Attributes: `rows` and
    `row_bytes` of the line, `channels_last` if a row is one of an image that lies so."""

    annotation = NotAnnotated("a pass creates it, of a state that new values move through")
    computes = False
    only_moves = True

    def layouts_of(self, node: Node) -> Layouts:
        return Layouts.CHANNELS_LAST if node.attrs.channels_last else Layouts.ROW_MAJOR

    layouts: ClassVar[Layouts] = Layouts.ROW_MAJOR

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"initial": node.inputs[-1].constant.reshape(-1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **refs,
            "state_bytes": node.states[0].nbytes,
            "initial_bytes": node.inputs[-1].nbytes,
            "rows": node.attrs.rows,
            "row_bytes": node.attrs.row_bytes,
        }


class Ring:
    """The line in a state's array, which `write` changes. UserError, where kernels return InvalidState, if the oldest
    row is none of the line: the memory was overwritten."""

    def __init__(self, node: Node, state: np.ndarray) -> None:
        memory = state.view(np.uint8)
        self._position = memory[:POSITION_BYTES].view("<u4")
        self._rows = memory[POSITION_BYTES:].reshape(node.attrs.rows, node.attrs.row_bytes)
        if self._position[0] >= len(self._rows):
            raise UserError(
                f"{node.name}: the oldest row of the state is number {self._position[0]} of {len(self._rows)}, counted "
                "from 0: its memory was overwritten. Start without a state, or from one that is whole",
                exit_code=1,
            )
        initial = node.inputs[-1].constant.reshape(-1).view(np.uint8)
        self._initial = np.tile(initial, self._rows.size // initial.size).reshape(self._rows.shape)

    def _places(self, numbers: np.ndarray) -> np.ndarray:
        found: np.ndarray = (int(self._position[0]) + numbers) % len(self._rows)
        return found

    def read(self, numbers: np.ndarray) -> np.ndarray:
        """Returns rows, counted from the oldest, as bytes."""
        places = self._places(numbers)
        found: np.ndarray = self._rows[places] ^ self._initial[places]
        return found

    def write(self, rows: np.ndarray) -> None:
        """Appends rows, given as bytes of any shape."""
        rows = rows.reshape(-1, self._rows.shape[1])
        places = self._places(np.arange(len(rows)))
        self._rows[places] = rows ^ self._initial[places]
        self._position[0] = (self._position[0] + len(rows)) % len(self._rows)
