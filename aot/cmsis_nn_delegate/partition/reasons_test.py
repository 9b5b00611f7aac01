"""Every reason is documented, and there is a model for it."""

import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.lowering import Function, exported, in_float, lower_program, lowered

X = torch.randn(2, 4)


def unquantized(module, *inputs, **options):
    return lower_program(torch.export.export(module, inputs, **options))


def with_scale(scale, element):
    """A linear layer between quantize and dequantize nodes that are written by hand."""
    low, high = (0, 255) if element is torch.uint8 else (-128, 127)
    q = torch.ops.quantized_decomposed

    def through(x):
        steps = q.quantize_per_tensor(x, scale, 0, low, high, element)
        return q.dequantize_per_tensor(steps, scale, 0, low, high, element)

    return Function(lambda x: through(torch.relu(through(x))))


ASKED = CmsisNnQuantizer("minmax").set_module_name("1", None)
MODELS = {
    Reason.UNSUPPORTED_OPERATOR: lambda: lowered(Function(in_float), X),
    Reason.NOT_QUANTIZED: lambda: unquantized(nn.Linear(4, 3), X),
    Reason.UNSUPPORTED_DTYPE: lambda: lowered(Function(torch.relu), X.double()),
    Reason.UNSUPPORTED_QUANTIZATION: lambda: unquantized(with_scale(0.5, torch.uint8), X),
    Reason.UNSUPPORTED_SHAPE: lambda: lowered(Function(torch.add), *[torch.randn(1, 2, 1, 2, 1, 2, 2)] * 2),
    Reason.UNSUPPORTED_PARAMETER: lambda: lowered(
        Function(lambda x: F.max_pool2d(x, 2, return_indices=True)), torch.randn(1, 2, 4, 4)
    ),
    Reason.DYNAMIC_SHAPE: lambda: unquantized(
        Function(torch.relu), X, dynamic_shapes={"inputs": ({0: torch.export.Dim("batch")},)}
    ),
    Reason.NOT_CONSTANT: lambda: lowered(Function(F.conv2d), torch.randn(1, 2, 3, 3), torch.randn(4, 2, 1, 1)),
    Reason.TOO_LARGE: lambda: lowered(Function(lambda x: F.max_pool2d(x, 2, 2**28)), torch.randn(1, 2, 4, 4)),
    Reason.LEFT_IN_FLOAT: lambda: lower_program(
        exported(nn.Sequential(nn.ReLU(), nn.Linear(4, 3)), X, quantizer=ASKED)
    ),
    Reason.NOT_FUSABLE: lambda: lowered(Function(lambda x: in_float(torch.relu(in_float(x)))), X),
}


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.value)
def test_reason(reason):
    documented = re.findall(r"^## `(.+)`$", Path("docs/reasons.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert documented.count(reason.value) == 1
    reports = MODELS[reason]().reports
    assert reason in {report.reason for report in reports}, "\n".join(map(str, reports))
