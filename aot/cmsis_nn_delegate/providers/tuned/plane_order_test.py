"""Outputs lie on inputs of their channels only once these have been read."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned import plane_order

Pixels = set[int]


def steps(geometry: Geometry, along_height: bool, strip: int, at_a_time: int = 2) -> Iterator[tuple[Pixels, Pixels]]:
    """Yields what the kernel reads, and then writes, of one channel, `at_a_time` whole rows together: pixels counted
    from the start of input and output."""
    sides = list(zip(geometry.input, geometry.output, geometry.stride, geometry.padding))
    (y_in, y_out, stride, y_padding), (x_in, x_out, _, x_padding) = reversed(sides) if along_height else sides

    def pixels(image: int, rows: range, columns: range, size: tuple[int, int]) -> Pixels:
        height, width = size
        places = [(x, y) if along_height else (y, x) for y in rows for x in columns]
        return {(image * height + y) * width + x for y, x in places if 0 <= y < height and 0 <= x < width}

    def step(image: int, x: int, y: int, rows: range, count: int) -> tuple[Pixels, Pixels]:
        outputs = min(strip, x_out - x)
        left = x * stride - x_padding
        columns = range(x_in) if strip >= x_out else range(left, left + (outputs - 1) * stride + 3)
        written = pixels(image, range(y, y + count), range(x, x + outputs), geometry.output)
        return pixels(image, rows, columns, geometry.input), written

    for image in range(geometry.batch):
        if strip >= x_out or stride == 1:
            for x in range(0, x_out, strip):
                have = -y_padding
                for y in range(0, y_out, at_a_time):
                    count = min(at_a_time, y_out - y)
                    end = (y + count - 1) * stride - y_padding + 3
                    yield step(image, x, y, range(have, end), count)
                    have = end
        else:
            y = 0
            while y < y_out:
                count = min(2 if y else 1, y_out - y)
                top = y * stride - y_padding
                for x in range(0, x_out, strip):
                    yield step(image, x, y, range(top, top + (count - 1) * stride + 3), count)
                y += count


def loses_nothing(geometry: Geometry, along_height: bool, strip: int, at_a_time: int = 2) -> bool:
    written: Pixels = set()
    for reads, writes in steps(geometry, along_height, strip, at_a_time):
        if reads & written:
            return False
        written |= writes
    return True


def sizes(low: int, high: int):
    return st.tuples(st.integers(low, high), st.integers(low, high))


MOBILENET = Geometry(1, (48, 48), (3, 3), (24, 24), (2, 2), (0, 0), (1, 1))
MOBILENET_OF_TORCH = Geometry(1, (48, 48), (3, 3), (24, 24), (2, 2), (1, 1), (1, 1))


@settings(deadline=None, max_examples=600)
@given(st.integers(1, 3), sizes(1, 12), st.integers(1, 2), sizes(0, 3), sizes(0, 3), st.booleans(), st.integers(1, 8))
def test_nothing_is_read_after_it_has_been_overwritten(batch, size, stride, padding, far, along_height, strip):
    output = [(i + p + f - 3) // stride + 1 for i, p, f in zip(size, padding, far)]
    if min(output) < 1:
        return
    geometry = Geometry(batch, size, (3, 3), (output[0], output[1]), (stride, stride), padding, (1, 1))
    if plane_order.overlaps_exactly(geometry, along_height, strip):
        assert loses_nothing(geometry, along_height, strip)
    if plane_order.overlaps_exactly(geometry, along_height, max(output)):
        assert loses_nothing(geometry, along_height, max(output), at_a_time=1)


@settings(deadline=None)
@given(sizes(4, 12), st.integers(1, 2), sizes(0, 1), st.integers(2, 8))
@example((12, 12), 2, (1, 1), 2)
def test_usual_layers_overlap_wherever_they_can(size, stride, padding, strip):
    """The condition gives nothing away: what it refuses would lose inputs."""
    output = [(i + p + 1 - 3) // stride + 1 for i, p in zip(size, padding)]
    geometry = Geometry(1, size, (3, 3), (output[0], output[1]), (stride, stride), padding, (1, 1))
    assert plane_order.overlaps_exactly(geometry, False, strip) == loses_nothing(geometry, False, strip)


def test_the_peak_of_mobilenet():
    for geometry in (MOBILENET, MOBILENET_OF_TORCH):
        for strip in (8, 12, 24):
            assert plane_order.overlaps_exactly(geometry, False, strip)
    assert not plane_order.overlaps_exactly(MOBILENET, True, 24)
