"""Code shared by the tuned kernels of pooling, for cores with DSP or MVE."""

from __future__ import annotations

from ...format.element import COMMON_ELEMENT
from ...graph.ir import Node, Value
from ...graph.tensor_type import Element
from ...ops import storage
from ...ops.attrs import PoolAttrs
from ...ops.case import Case
from ...ops.features import Features, blocks_of

LEAST_CHANNELS = 4
_TWO = 2  # columns of windows that have loops of their own
_LARGEST = 32  # bytes at a time with MVE


def draw_image(d: Case, element: Element = COMMON_ELEMENT) -> tuple[Value, PoolAttrs]:
    """An image of some more pixels and channels, half of them with windows of two columns."""
    kernel = (d.integer(1, 4), _TWO) if d.pick(False, True) else d.pair(1, 5)
    channels = d.pick(d.integer(LEAST_CHANNELS, 20), LEAST_CHANNELS * d.integer(1, 12), d.integer(LEAST_CHANNELS, 80))
    rows, columns = (k + d.integer(0, 9) for k in kernel)
    x = d.input(d.batch(), channels, rows, columns, element=element)
    padding = d.padding(kernel)
    strides = [d.integer(1, max(1, k - far)) for k, far in zip(kernel, (padding.bottom, padding.right))]
    return x, PoolAttrs(kernel, (strides[0], strides[1]), padding, d.clamp())


def why_not(node: Node) -> str:
    *_, channels = storage.nhwc(node.output)
    return f"it takes {LEAST_CHANNELS} channels and more" if channels < LEAST_CHANNELS else ""


def features(node: Node, words: int, lanes: int) -> Features:
    """Returns what the loops depend on: blocks have `words` words or one with DSP, and with MVE 32 bytes or at
    most `lanes`."""
    n, h, w, c = storage.nhwc(node.inputs[0])
    _, out_h, out_w, _ = storage.nhwc(node.output)
    attrs: PoolAttrs = node.attrs
    pixel = node.output.element.nbytes(c)
    rows = _taps(h, attrs.kernel[0], out_h, attrs.stride[0], attrs.padding.top)
    columns = _taps(w, attrs.kernel[1], out_w, attrs.stride[1], attrs.padding.left)
    cuts = _runs(columns, attrs.kernel[1])
    places = n * _runs(rows, attrs.kernel[0]) * cuts
    found = {"places": places}
    limited = attrs.clamp.limits(node.output.type)
    for name, (whole, rest), size in (
        ("words", divmod(pixel, 4 * words), 4),
        ("vectors", divmod(pixel, _LARGEST), lanes),
    ):
        small = blocks_of(rest, size)
        found[f"places by {name}"] = places * (whole + small)
        found[f"lines by {name}"] = n * out_h * cuts * (whole + small)
        found[f"rows by {name}"] = n * sum(rows) * out_w * (whole + small)
        for kind, blocks in (("whole", whole), ("last", small)):
            found[f"windows by {kind} {name}"] = n * out_h * out_w * blocks
            found[f"limited by {kind} {name}"] = n * out_h * out_w * blocks if limited else 0
            found[f"pixels by {kind} {name}"] = n * sum(rows) * sum(columns) * blocks
    return Features(found, "two columns" if attrs.kernel[1] == _TWO else "")


def _taps(size: int, taps: int, windows: int, stride: int, padding: int) -> list[int]:
    """Returns how many taps of each window along an axis lie in the image."""
    origins = (window * stride - padding for window in range(windows))
    return [min(origin + taps, size) - max(origin, 0) for origin in origins]


def _runs(inside: list[int], taps: int) -> int:
    """Returns into how many runs of whole windows, and single others, those of an axis fall."""
    whole = inside.count(taps)
    return len(inside) - whole + min(whole, 1)
