"""How `depthwise_conv2d_windows` takes the outputs of a call, and where these may overlap its input."""

from __future__ import annotations

from typing import Optional

from ...ops.features import blocks_of
from ...ops.geometry import Geometry
from . import plane_order

BLOCK = 16  # channels whose columns lie in scratch memory at a time
GROUP = 4  # outputs of a row of a group
ROWS = 2  # of outputs of a band
_KEPT = 3  # rows of inputs
_LEAST_STRIP = 16  # outputs; shorter ones save less than they cost
_COLUMN = 64  # bytes of a column of four rows, of BLOCK channels


class WindowShape:
    """The kernel takes bands of ROWS rows of outputs from above, of these strips of `outputs` columns, and of these
    BLOCK channels after the other. A strip has `columns` columns of inputs. The first _KEPT rows of inputs under a band
    are copied, so that its outputs may overlap them.

    With `along_height`, rows are columns of the image, and all bands of BLOCK channels are computed before the next
    channels. Then a strip takes the columns that it shares with the one before from that one, so that only a row of
    inputs is kept, for the next band, and of those channels alone; a single strip still has that row in its columns."""

    def __init__(self, geometry: Geometry, channels: int, along_height: bool = False, strips: int = 1) -> None:
        """`strips`: into how many a row is divided."""
        self._geometry, self._channels, self._along_height = geometry, channels, along_height
        axis = 0 if along_height else 1
        self._row = geometry.input[axis]
        self.length = geometry.output[axis]  # of a row of outputs
        self.rows = geometry.output[1 - axis]
        self._kept = 0 if along_height and strips == 1 else 1 if along_height else _KEPT
        self.outputs = self._outputs(strips)
        self.columns = self.outputs + geometry.kernel[axis] - 1

    def strips(self) -> list[int]:
        """Returns into how many strips a row can be divided, those that are not shorter with more of them left out."""
        most = blocks_of(self.length, _LEAST_STRIP)
        lengths: dict[int, int] = {}
        for count in range(1, most + 1):
            lengths.setdefault(self._outputs(count), count)
        return list(lengths.values())

    def _outputs(self, strips: int) -> int:
        step = GROUP if self._along_height and strips > 1 else 2
        return max(blocks_of(self.length, step * strips) * step, GROUP)

    @property
    def scratch_bytes(self) -> int:
        """Of the columns and the rows that are kept."""
        kept = self._kept * self._row * (BLOCK if self._along_height else self._channels)
        return self.columns * _COLUMN + blocks_of(kept, 16) * 16

    @property
    def distance(self) -> Optional[int]:
        """Returns how many elements before the input the output has to start, 0 or more; None if they must lie apart.

        When all outputs of a band are written, the row behind those that are kept has still to be read, by other strips
        and blocks of this band, and by the next one. With `along_height`, `plane_order.overlaps_exactly` holds, but a
        column more is written at a time, and what a strip does not share with the one before must begin behind the
        outputs of that one."""
        if self._along_height:
            exactly = plane_order.overlaps_exactly(self._geometry, True, self.length)
            top, left = self._geometry.padding
            return 0 if exactly and top <= 2 and left <= 1 else None
        (height, width), (rows, columns) = self._geometry.input, self._geometry.output
        most = 0
        for y in range(0, rows, ROWS):
            read = min(max(y - self._geometry.padding[0] + _KEPT, 0), height)
            most = max(most, min(y + ROWS, rows) * columns - read * width)
        growth = rows * columns - height * width  # from one image of the batch to the next
        return (most + max(growth, 0) * (self._geometry.batch - 1)) * self._channels
