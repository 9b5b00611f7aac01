"""What `depthwise_conv2d_windows` reads is still there when it does, wherever its output may start."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned.window_shape import ROWS, WindowShape

KEPT = 3  # rows that are copied before outputs are written; the one behind is read until the last of them is


def loses_nothing(geometry: Geometry, along_height: bool, distance: int) -> bool:
    """Returns whether all inputs are there when they are read, if the output starts `distance` pixels before them.

    A place is a pixel: with `along_height`, a block of channels only meets itself, and otherwise all are written
    together."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    overwritten: set[int] = set()

    def there(image: int, line: int) -> bool:
        """Whether a row of inputs is, or a column."""
        if line not in range(width if along_height else height):
            return True
        pixels = [(y, line) for y in range(height)] if along_height else [(line, x) for x in range(width)]
        return all((image * height + y) * width + x not in overwritten for y, x in pixels)

    for image in range(geometry.batch):
        for band in range(0, columns if along_height else rows, ROWS):
            first = band - geometry.padding[1 if along_height else 0]
            # The first one has been kept for the band before.
            if not all(there(image, first + i) for i in range(0 if band == 0 else 1, KEPT)):
                return False
            lines = range(band, min(band + ROWS, columns if along_height else rows))
            for line in lines:
                for i in range(rows if along_height else columns):
                    y, x = (i, line) if along_height else (line, i)
                    overwritten.add((image * rows + y) * columns + x - distance)
            if not there(image, first + KEPT):
                return False
    return True


def geometry_of(batch, size, before, after) -> Geometry:
    output = tuple(i + b + a - 2 for i, b, a in zip(size, before, after))
    assume(min(output) >= 1)
    return Geometry(batch, size, (3, 3), output, (1, 1), before, (1, 1))


sizes = st.tuples(st.integers(1, 12), st.integers(1, 12))
paddings = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(deadline=None, max_examples=400)
@given(st.integers(1, 3), sizes, paddings, paddings, st.booleans())
@example(1, (25, 5), (1, 1), (1, 1), True)
def test_nothing_is_read_after_it_has_been_overwritten(batch, size, before, after, along_height):
    geometry = geometry_of(batch, size, before, after)
    distance = WindowShape(geometry, 1, along_height).distance
    if distance is not None:
        assert loses_nothing(geometry, along_height, distance)


@settings(deadline=None)
@given(sizes, st.tuples(st.integers(0, 1), st.just(1)))
def test_columns_of_usual_layers_lie_over_the_input(size, before):
    geometry = geometry_of(1, size, before, before)
    assert WindowShape(geometry, 1, along_height=True).distance == 0


def test_scratch_memory_of_spectrograms():
    """18 columns of four rows, and three columns of the image, both of 16 channels."""
    shape = WindowShape(Geometry(1, (25, 5), (3, 3), (25, 5), (1, 1), (1, 1), (1, 1)), 64, along_height=True)
    assert (shape.outputs, shape.columns, shape.scratch_bytes) == (16, 18, 18 * 64 + 3 * 25 * 16)
