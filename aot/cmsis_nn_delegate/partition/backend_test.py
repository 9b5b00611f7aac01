"""CmsisNnBackend.preprocess and the importer: what a partition becomes, and clear errors."""

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.backend.compile_spec_schema import CompileSpec
from torch import nn

from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant
from cmsis_nn_delegate.partition.backend import CmsisNnBackend
from cmsis_nn_delegate.partition.importer import import_program
from cmsis_nn_delegate.passes.run_passes import run_passes
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.testing.lowering import Function, exported, in_float, lowered

SPECS = [CompileSpec("target", b"cortex-m55"), CompileSpec("io_placement", b"arena")]


def network():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 3),
        nn.Softmax(1),
    )


def test_payload_and_debug_handles_have_the_same_calls():
    (partition,) = lowered(network(), torch.randn(1, 2, 6, 6)).delegates
    result = CmsisNnBackend.preprocess(partition, SPECS)
    graph = run_passes(import_program(partition))
    kernels = ["quantize", "conv2d", "max_pool2d", "fully_connected", "softmax", "dequantize"]
    assert [node.op for node in graph.nodes] == kernels
    kernels[1:3] = "conv2d_vectors", "max_pool2d_channels"  # tuned kernels of the operators
    assert [call.opcode.name.lower() for call in decode(result.processed_bytes).calls] == kernels
    assert list(result.debug_handle_map) == list(range(len(kernels)))
    handles = {node.name: node.meta["debug_handle"] for node in partition.graph.nodes if "debug_handle" in node.meta}
    for index, node in enumerate(graph.nodes):
        known = {handles[name] for name in node.sources if name in handles}
        assert known <= set(result.debug_handle_map[index])
    # conv, relu and the quantize after them are one call.
    assert len(graph.nodes[1].sources) == 3


def test_preprocess_is_deterministic():
    torch.manual_seed(0)
    (partition,) = lowered(network(), torch.randn(1, 2, 6, 6)).delegates
    first, second = (CmsisNnBackend.preprocess(partition, SPECS).processed_bytes for _ in range(2))
    assert first == second


def test_import_keeps_quantize_and_dequantize():
    (partition,) = lowered(nn.Linear(4, 3), torch.randn(2, 4)).delegates
    graph = import_program(partition)
    assert [node.op for node in graph.nodes] == [
        "quantize",
        "dequantize",
        "fully_connected",
        "quantize",
        "dequantize",
    ]
    _, weight, bias = graph.nodes[2].inputs
    assert (weight.shape, weight.element, weight.quant.axis) == ((3, 4), Element.INT8, 0)
    assert (bias.shape, bias.element) == ((3,), Element.INT32)


def test_what_was_not_checked_is_checked_by_the_import():
    program = torch.export.export(nn.ReLU(), (torch.randn(2, 4),))
    edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False)).exported_program()
    with pytest.raises(ValueError, match="aten.relu.default. cannot be delegated: its output is not quantized"):
        import_program(edge)
    assert [node.op for node in import_program(edge, checked=True).nodes] == ["clamp"]


def test_int8_borders_have_their_parameters():
    x = torch.randn(1, 2, 6, 6).to(memory_format=torch.channels_last)
    graph = lowered(network(), x, io="int8").graph()
    (source,), (output,) = graph.inputs, graph.outputs
    assert source.element is Element.INT8 and source.quant.scale[0] > 0
    assert source.layout is Layout.CHANNELS_LAST
    assert output.quant == Quant((1 / 256,), -128)


def edge_program(module, *inputs):
    config = EdgeCompileConfig(_check_ir_validity=False)
    return to_edge(torch.export.export(module, inputs), compile_config=config).exported_program()


BAD = {
    "float64": (
        Function(lambda x: x + x),
        torch.randn(2, 2, dtype=torch.float64),
        "float64.*float",
    ),
    "integers": (Function(lambda x: x + x), torch.ones(2, 2, dtype=torch.int32), "int32"),
    "unknown operator": (Function(in_float), torch.randn(2, 2), "no kernel for aten.atan2"),
    "not quantized": (Function(torch.relu), torch.randn(2, 2), "not quantized.*CmsisNnQuantizer"),
    "strides": (Function(torch.relu), torch.randn(2, 3).t(), "contiguous"),
    "int8 without parameters": (
        Function(torch.relu),
        torch.ones(2, 2, dtype=torch.int8),
        "scale and zero",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_programs_that_no_partitioner_would_delegate(name):
    module, x, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        CmsisNnBackend.preprocess(edge_program(module, x), SPECS)


def test_dynamic_shape():
    dynamic = {"dynamic_shapes": ({0: torch.export.Dim("batch", min=2, max=9)},)}
    program = torch.export.export(nn.ReLU(), (torch.randn(3, 6),), **dynamic)
    with pytest.raises(ValueError, match="dynamic shape.*static shapes"):
        CmsisNnBackend.preprocess(to_edge(program).exported_program(), SPECS)


def test_missing_or_unknown_target():
    program = edge_program(exported(nn.Linear(2, 2), torch.randn(1, 2)).module(check_guards=False), torch.randn(1, 2))
    with pytest.raises(ValueError, match="'target' is missing"):
        CmsisNnBackend.preprocess(program, [])
    with pytest.raises(ValueError, match="cortex-a53.*cortex-m4"):
        CmsisNnBackend.preprocess(program, [CompileSpec("target", b"cortex-a53")])
