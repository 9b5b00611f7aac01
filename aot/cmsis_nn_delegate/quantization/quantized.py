"""Models that are quantized before they are compiled, by `convert_trained` for example: `is_quantized`."""

from __future__ import annotations

from typing import Union

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule

_NAMESPACE = "quantized_decomposed"


def is_quantized(model: Union[torch.nn.Module, ExportedProgram]) -> bool:
    """Returns whether `model` is a converted graph module or its program: whether it quantizes or dequantizes
    anything."""
    if not isinstance(model, (GraphModule, ExportedProgram)):
        return False
    return any(getattr(node.target, "namespace", "") == _NAMESPACE for node in model.graph.nodes)
