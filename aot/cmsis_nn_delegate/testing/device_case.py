"""A small network with two outputs, for tests that run it on simulated boards in several ways."""

from __future__ import annotations

import numpy as np

from .. import reference
from ..files import serialize
from ..ops.attrs import Clamp, Padding
from ..payload.lower_partition import encode
from ..report.model_report import build_report
from ..targets.target import get_target
from .graph_builder import GraphBuilder


def _network():
    builder = GraphBuilder()
    image = builder.input(1, 3, 8, 8)
    x = builder.conv2d(image, 6, (3, 3), (1, 1), Padding(1, 1, 1, 1), clamp=Clamp(0.0))
    x = builder.avg_pool2d(x, (4, 4))
    return builder.graph(x, builder.softmax(builder.fully_connected(x, 5)))


GRAPH = _network()


def payload(core):
    """Returns the payload of the network for a target."""
    return encode(GRAPH, get_target(core)).payload


def inputs(count):
    """Returns `count` input sets, always the same."""
    generator = np.random.default_rng(0)
    return [[generator.integers(-128, 128, v.shape).astype(np.int8) for v in GRAPH.inputs] for _ in range(count)]


def assert_right(outputs, input_sets):
    """Fails unless the outputs are those of the reference, byte for byte."""
    for found, sample in zip(outputs, input_sets, strict=True):
        for array, expected in zip(found, reference.run(GRAPH, sample), strict=True):
            assert array.dtype == expected.dtype and array.tobytes() == expected.tobytes()


def write_files(folder, core):
    """Writes the files of the compiled model that commands read, and returns their common beginning."""
    encoded = encode(GRAPH, get_target(core))
    report = build_report("net", encoded)
    about = {"name": "net", "target": core, **encoded.options.to_texts(), "payload_crc32": report.payload_crc32}
    (folder / "net.payload.bin").write_bytes(encoded.payload)
    (folder / "net.graph.npz").write_bytes(serialize.dumps(GRAPH, about))
    (folder / "net.report.json").write_text(report.to_json())
    return folder / "net"
