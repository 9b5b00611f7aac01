"""Whether the output of a depthwise convolution by planes or by rows may start where its input does.

`depthwise_planes.h` (runtime/kernels/common) and its neighbours compute one group of channels after the other, so an
output only meets inputs of its own group, and a place is a pixel: p = row * width + column, counted from the start of
both. Two rows of outputs are written once all rows that their windows read have been copied.

Whole rows, one below the other: when rows y - 2 and y - 1 are written, up to pixel y * out_width, rows of the image
from y * stride + 3 - stride - top on are still to be read. Where the output is no larger than the image and `top` is at
most 2, that is row y or one below it, so nothing is lost. If rows are columns of the image, columns take the place of
rows, with stride 1 and equal widths: then a pixel keeps its column. The same holds where rows are written one by one,
as by `depthwise_conv2d_rows.h`, and where a window lies in one row, as in `depthwise_conv2d_lines.h`.

With stride 1 one strip is computed after the other, so outputs of the first would lie on inputs of the others. With
stride 2, all strips of two rows are: the windows of a strip are copied just before its outputs are written, and all
rows are read again for the next two rows of outputs. Row 0 is computed alone, then rows y and y + 1 with y odd. What a
later strip reads begins in row 2 * y - top, `strip` * 2 - left pixels from the left at the least, and the last output
of the first strip in these rows is pixel (y + 1) * out_width + strip - 1. Both grow with y, the image's side faster, so
y = 1 decides, and for y = 0 whether `left` is at most `strip`.
"""

from __future__ import annotations

from ...ops.geometry import Geometry


def overlaps_exactly(geometry: Geometry, along_height: bool, strip: int) -> bool:
    """Returns whether the output may start at the address of the input. `along_height` says that rows are columns of
    the image, `strip` how many outputs of a row are computed at a time."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    top, left = geometry.padding
    if rows > height or columns > width:
        return False
    strips = strip < (rows if along_height else columns)
    if along_height:
        return not strips and geometry.stride == (1, 1) and columns == width and left <= 2
    if not strips:
        return top <= 2
    return geometry.stride == (2, 2) and top <= 1 and left <= strip and 2 * columns + left <= (2 - top) * width + strip
