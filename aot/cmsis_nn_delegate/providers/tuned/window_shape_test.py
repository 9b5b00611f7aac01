"""What `depthwise_conv2d_windows` reads is still there when it does, wherever its output may start."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned.window_shape import ROWS, WindowShape

KEPT = 3  # rows that are copied before outputs are written; the one behind is read until the last of them is
READ = 4  # rows of a band
SHARED = 2  # columns of a strip with the one before


def rows_lose_nothing(geometry: Geometry, distance: int) -> bool:
    """Returns whether all inputs are there when they are read, if the output starts `distance` pixels before them."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    overwritten: set[int] = set()

    def there(image: int, row: int) -> bool:
        pixels = range(width) if row in range(height) else ()
        return all((image * height + row) * width + x not in overwritten for x in pixels)

    for image in range(geometry.batch):
        for band in range(0, rows, ROWS):
            top = band - geometry.padding[0]
            # The first one has been kept for the band before.
            if not all(there(image, top + i) for i in range(0 if band == 0 else 1, KEPT)):
                return False
            pixels = range(band * columns, min(band + ROWS, rows) * columns)
            overwritten |= {image * rows * columns + pixel - distance for pixel in pixels}
            if not there(image, top + KEPT):
                return False
    return True


def columns_lose_nothing(geometry: Geometry, strip: int) -> bool:
    """The same where rows are columns of the image, and the output starts where the input does. A block of channels
    only meets itself, so a place is a pixel."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    overwritten: set[int] = set()
    for image in range(geometry.batch):
        for band in range(0, columns, ROWS):
            left = band - geometry.padding[1]
            for y in range(0, rows, strip):
                begin = y - geometry.padding[0]
                for row in range(begin if y == 0 else begin + SHARED, begin + strip + SHARED):
                    for column in range(left if band == 0 else left + 1, left + READ):
                        if row in range(height) and column in range(width):
                            if (image * height + row) * width + column in overwritten:
                                return False
                for row in range(y, min(y + strip, rows)):
                    for column in range(band, min(band + ROWS, columns)):
                        overwritten.add((image * rows + row) * columns + column)
    return True


def geometry_of(batch, size, before, after) -> Geometry:
    output = tuple(i + b + a - 2 for i, b, a in zip(size, before, after))
    assume(min(output) >= 1)
    return Geometry(batch, size, (3, 3), output, (1, 1), before, (1, 1))


sizes = st.tuples(st.integers(1, 12), st.integers(1, 12))
paddings = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(deadline=None, max_examples=400)
@given(st.integers(1, 3), sizes, paddings, paddings)
def test_rows_are_read_before_they_are_overwritten(batch, size, before, after):
    geometry = geometry_of(batch, size, before, after)
    assert rows_lose_nothing(geometry, WindowShape(geometry, 1).distance)


@settings(deadline=None, max_examples=400)
@given(st.integers(1, 3), st.tuples(st.integers(1, 40), st.integers(1, 8)), paddings, paddings, st.integers(1, 5))
@example(1, (25, 5), (1, 1), (1, 1), 1)
@example(1, (25, 5), (1, 1), (1, 1), 2)
def test_columns_are_read_before_they_are_overwritten(batch, size, before, after, strips):
    geometry = geometry_of(batch, size, before, after)
    shape = WindowShape(geometry, 1, along_height=True, strips=strips)
    if shape.distance is not None:
        assert columns_lose_nothing(geometry, shape.outputs)


@settings(deadline=None)
@given(sizes, st.tuples(st.integers(0, 1), st.just(1)))
def test_columns_of_usual_layers_lie_over_the_input(size, before):
    geometry = geometry_of(1, size, before, before)
    assert WindowShape(geometry, 1, along_height=True).distance == 0


def test_scratch_memory_of_spectrograms():
    """28 columns of four rows, or 18 and a column of the image, of 16 channels."""
    geometry = Geometry(1, (25, 5), (3, 3), (25, 5), (1, 1), (1, 1), (1, 1))
    shapes = [WindowShape(geometry, 64, along_height=True, strips=count) for count in (1, 2)]
    assert shapes[0].strips() == [1, 2]
    found = [(shape.outputs, shape.columns, shape.scratch_bytes) for shape in shapes]
    assert found == [(26, 28, 28 * 64), (16, 18, 18 * 64 + 25 * 16)]


def test_rows_are_divided_into_strips_of_different_lengths():
    geometry = Geometry(1, (5, 70), (3, 3), (5, 70), (1, 1), (1, 1), (1, 1))
    shape = WindowShape(geometry, 8)
    assert shape.strips() == [1, 2, 3, 4, 5]
    outputs = [WindowShape(geometry, 8, strips=count).outputs for count in shape.strips()]
    assert outputs == [70, 36, 24, 18, 14]
