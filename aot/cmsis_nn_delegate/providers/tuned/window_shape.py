"""How `depthwise_conv2d_windows` takes the outputs of a call, and where these may overlap its input."""

from __future__ import annotations

from ...ops.geometry import Geometry

BLOCK = 16  # channels whose columns lie in scratch memory at a time
GROUP = 4  # outputs of a row of a group
ROWS = 2  # of outputs of a band
_KEPT = 3  # rows of inputs
_MOST_OUTPUTS = 16  # of a row of a strip
_COLUMN = 64  # bytes of a column of four rows, of BLOCK channels


class WindowShape:
    """The kernel takes bands of ROWS rows of outputs from above, of these strips of `outputs` columns, and of these
    BLOCK channels after the other. A strip has `columns` columns of inputs. The first _KEPT rows of inputs under a band
    are copied, so that its outputs may overlap them."""

    def __init__(self, geometry: Geometry, channels: int) -> None:
        self._geometry, self._channels = geometry, channels
        width = geometry.output[1]
        strips = -(-width // _MOST_OUTPUTS)
        self.outputs = max(-(-width // (2 * strips)) * 2, GROUP)
        self.columns = self.outputs + geometry.kernel[1] - 1

    @property
    def scratch_bytes(self) -> int:
        """Of the columns and the rows that are kept."""
        kept = _KEPT * self._geometry.input[1] * self._channels
        return self.columns * _COLUMN + -(-kept // 16) * 16

    @property
    def distance(self) -> int:
        """Returns how many elements before the input the output has to start, 0 or more.

        When all outputs of a band are written, the row behind those that are kept has still to be read, by other strips
        and blocks of this band, and by the next one."""
        (height, width), (rows, columns) = self._geometry.input, self._geometry.output
        most = 0
        for y in range(0, rows, ROWS):
            read = min(max(y - self._geometry.padding[0] + _KEPT, 0), height)
            most = max(most, min(y + ROWS, rows) * columns - read * width)
        growth = rows * columns - height * width  # from one image of the batch to the next
        return (most + max(growth, 0) * (self._geometry.batch - 1)) * self._channels
