"""A fault that is planted in a payload is found in the call that has it."""

import zlib
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.runner import layers
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

RUNTIME = Path("runtime")


def network():
    builder = GraphBuilder()
    image = builder.input(1, 3, 8, 8)
    x = builder.conv2d(image, 6, (3, 3), (1, 1), Padding(1, 1, 1, 1), clamp=Clamp(0.0))
    y = builder.depthwise_conv2d(x, kernel=(3, 3), stride=(1, 1), padding=Padding(1, 1, 1, 1))
    x = builder.avg_pool2d(builder.add(x, y, Clamp(0.0)), (4, 4))
    return builder.graph(builder.softmax(builder.fully_connected(x, 5)))


GRAPH = network()
ENCODED = {core: encode(GRAPH, get_target(core)) for core in ("cortex-m4", "cortex-m55")}


def inputs(count=2):
    generator = np.random.default_rng(0)
    return [[generator.integers(-128, 128, v.shape).astype(np.int8) for v in GRAPH.inputs] for _ in range(count)]


def compared(core, payload, image="_profile"):
    return layers.compare(payload, GRAPH, inputs(), RUNTIME / f"{core.replace('-', '_')}{image}.elf")


def damaged(payload, at):
    """`payload` with another bit at one place, and the CRC of that."""
    payload = bytearray(payload)
    payload[at] ^= 0x40
    start = schema.HEADER.offset_of("crc32")
    payload[start : start + 4] = bytes(4)
    payload[start : start + 4] = zlib.crc32(bytes(payload)).to_bytes(4, "little")
    return bytes(payload)


def constant(core, call, *names):
    """The offset of a byte that matters in a constant of a call, which has one of these names."""
    (found,) = [c for c in ENCODED[core].calls[call].constants if c.name in names]
    # The table of a tuned kernel begins with a sum; what lies in its middle may be the weight of no input.
    return found.offset + (2 if found.name == "table" else found.nbytes // 2)


@pytest.mark.parametrize("core", ENCODED)
def test_no_difference(core):
    found = compared(core, ENCODED[core].payload)
    assert found.difference is None
    assert found.tensors == 2 * len(ENCODED[core].calls) == 12
    assert str(found) == "all 12 tensors that calls wrote are those of the reference"


@pytest.mark.parametrize("core", ENCODED)
@pytest.mark.parametrize("call", [0, 1, 4])
def test_a_weight(core, call):
    found = compared(core, damaged(ENCODED[core].payload, constant(core, call, "filter", "table")))
    difference = found.difference
    assert difference.call == call and difference.set == 0
    assert (
        difference.node is ENCODED[core].calls[call].node or difference.value in ENCODED[core].calls[call].node.outputs
    )
    assert f"call {call} ({difference.node.op}" in str(found)
    assert difference.found != difference.expected and 1 <= difference.differing <= difference.value.numel


def test_a_bias_changes_one_channel():
    # Too few channels for a tuned kernel, so the bias is a constant of its own.
    at = constant("cortex-m55", 1, "bias")
    found = compared("cortex-m55", damaged(ENCODED["cortex-m55"].payload, at - at % 4 + 1))
    assert found.difference.call == 1
    assert found.difference.differing <= 64  # pixels
    # The index is logical: the channel comes before the pixel, although it lies innermost in memory.
    assert found.difference.element[0] == 0 and 0 < found.difference.element[1] < 6


def test_an_argument():
    """A factor of the sum."""
    payload = ENCODED["cortex-m55"].payload
    call = decode(payload).calls[2]
    kernel = ENCODED["cortex-m55"].calls[2].choice.kernel.args
    at = call.offset + schema.CALL_HEADER.size + kernel.offset_of("factor1") + 3
    assert compared("cortex-m55", damaged(payload, at)).difference.call == 2


def test_an_image_that_prints_no_layers():
    with pytest.raises(UserError, match="prints no layers: use a profile image"):
        compared("cortex-m4", ENCODED["cortex-m4"].payload, image="")


def test_a_payload_of_another_graph():
    other = GraphBuilder()
    graph = other.graph(other.softmax(other.input(1, 5)))
    with pytest.raises(UserError, match="has 6 calls, its graph 1"):
        layers.compare(ENCODED["cortex-m4"].payload, graph, [], "image")
