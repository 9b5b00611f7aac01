"""What payloads take besides weights, biases and requantization, read from the payloads themselves."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import kernels
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from tests.end_to_end.vectors import NETWORKS, lowered_graph

OVERHEAD = 96  # bytes for each call, of a whole network
RECORD = 96  # bytes of a single call

# The calls that take more: they name many operands or have many axes, of which each number may be large.
LARGER = {
    "add_broadcast",
    "add_broadcast_int16",
    "batch_matmul",
    "batch_matmul_pairs",
    "batch_matmul_vectors",
    "camera_image",  # once in a model
    "conv2d_int16",
    "conv2d_int4_int16",
    "conv2d_large",
    "conv2d_large_int16",
    "conv2d_wide_int16",
    "conv2d_wide_large_int16",
    "pad_nd",
    "pad_nd_float32",
    "pad_nd_int16",
    "strided_copy",
    "strided_copy_float32",
    "strided_copy_int16",
    "strided_copy_vectors",
    "transpose_conv2d",
    "transpose_conv2d_any",
    "transpose_conv2d_any_int16",
}
RECURRENT = ("gru", "lstm", "rnn")  # larger, nearly all of them


@functools.cache
def graph_of(network: str) -> Graph:
    graph, _ = serialize.loads(lowered_graph(network))
    return graph


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("providers", [("tuned", "cmsis-nn", "portable"), ("cmsis-nn", "portable")], ids=lambda p: p[0])
@pytest.mark.parametrize("network", NETWORKS)
def test_overhead_of_a_call(network, providers, core):
    payload = encode(graph_of(network), get_target(core), PayloadOptions.of(providers=providers)).payload
    view = decode(payload)
    print(f"{network} on {core} with {providers[0]}: {view.overhead_bytes / len(view.calls):.1f} bytes a call")
    assert view.constant_bytes > 0
    assert 0 < view.overhead_bytes <= OVERHEAD * len(view.calls)


def test_the_table_of_the_documents():
    """docs/sizes.md has the overhead of each network, in bytes a call."""
    text = Path("docs/sizes.md").read_text(encoding="utf-8")
    for network in NETWORKS:
        cells = []
        for providers in (("tuned", "cmsis-nn", "portable"), ("cmsis-nn", "portable")):
            for core in ("cortex-m4", "cortex-m55"):
                view = decode(
                    encode(graph_of(network), get_target(core), PayloadOptions.of(providers=providers)).payload
                )
                cells.append(f"{view.overhead_bytes / len(view.calls):.1f}")
        row = f"| {network} | {len(view.calls)} | {' | '.join(cells)} |"
        assert row in text.splitlines(), row


def test_records_that_take_more():
    larger = {kernel.name for kernel in kernels().values() if schema.CALL_HEADER.size + kernel.args.size > RECORD}
    assert {name for name in larger if not name.startswith(RECURRENT)} == LARGER
