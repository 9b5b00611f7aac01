"""What networks compute that ExecuTorch's XNNPACKQuantizer quantized, static and per channel: `results`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

# What only moves numbers. These are rounded already, if what computes them rounds them.
_MOVES = frozenset(
    {
        "alias", "chunk", "clone", "constant_pad_nd", "contiguous", "detach", "dropout", "dropout_", "expand",
        "feature_dropout", "flatten", "flip", "narrow", "pad", "permute", "pixel_shuffle", "repeat", "reshape",
        "roll", "select", "slice", "split", "split_with_sizes", "squeeze", "stack", "transpose", "unbind",
        "unflatten", "unsqueeze", "view",
    }
)  # fmt: skip


class Int8Quantizer(XNNPACKQuantizer):
    """Quantizes what XNNPACKQuantizer leaves in float, too, except for numbers that are only moved. Each function
    reads and returns tensors with scales of their own."""

    def annotate(self, model: GraphModule) -> GraphModule:
        model = super().annotate(model)
        assert self.global_config is not None
        spec = self.global_config.input_activation
        results = model.graph.output_node().all_input_nodes
        for node in model.graph.nodes:
            if not _computes(node) or node.meta.get(Q_ANNOTATION_KEY) is not None:
                continue
            table = node.args[0] if "embedding" in str(node.target) else None
            inputs = [x for x in node.all_input_nodes if _is_float(x) and (x.op != "get_attr" or x is table)]
            node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
                input_qspec_map=dict.fromkeys(inputs, spec),
                output_qspec=None if node in results else spec,
                _annotated=True,
            )
        return model


def results(quantizer: XNNPACKQuantizer, program: ExportedProgram, samples: Sequence[Any]) -> list[np.ndarray]:
    """Returns the results of all samples, with which a copy of the program's module is calibrated."""
    graph = copy.deepcopy(program.module(check_guards=False))
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    with torch.no_grad():
        prepared = prepare_pt2e(graph, quantizer)
        for sample in samples:
            prepared(*sample)
        converted = convert_pt2e(prepared)
        return [array for sample in samples for array in arrays(converted(*sample))]


def arrays(results: Any) -> list[np.ndarray]:
    """Returns what a module returned."""
    return [results.numpy()] if isinstance(results, torch.Tensor) else [result.numpy() for result in results]


def _computes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return _is_float(node) and schema is not None and schema.name.removeprefix("aten::") not in _MOVES


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.is_floating_point()
