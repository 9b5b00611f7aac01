"""A program with several methods, in ExecuTorch's runtime on the host, computes what each program alone does."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from cmsis_nn_delegate.partition.lower import lower
from cmsis_nn_delegate.partition.partitioner import CmsisNnPartitioner
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.lowering import Function, exported, in_float

LIBRARY = "runtime/libcmsis_nn_delegate.so"


def test_methods_of_one_program():
    torch.manual_seed(0)
    linear = nn.Linear(12, 4)
    inputs = {"encode": torch.randn(1, 2, 6, 6), "decode": torch.randn(3, 12)}
    programs = {
        "encode": exported(nn.Sequential(nn.Conv2d(2, 3, 3), nn.Hardswish()), inputs["encode"]),
        # A part stays outside of the delegate, so this one has two calls.
        "decode": exported(
            Function(lambda x: linear(in_float(linear(x).repeat(1, 3))), linear=linear), inputs["decode"]
        ),
    }
    partitioner = CmsisNnPartitioner("cortex-m55")
    together = bytes(lower(programs, "cortex-m55", partitioner=partitioner).to_executorch().buffer)
    refused = {report.target for report in partitioner.reports if not report.delegated and not report.is_border}
    assert refused == {"aten.atan2.default"}
    # Functions of every method are called what the user wrote.
    assert {"aten.hardswish.default", "aten.atan2.default"} <= {r.function_target for r in partitioner.reports}
    for name, program in programs.items():
        alone = bytes(lower(program, "cortex-m55").to_executorch().buffer)
        data = [inputs[name].numpy()]
        (wanted,) = HostProgram(alone, LIBRARY).run(data)
        (got,) = HostProgram(together, LIBRARY, method=name).run(data)
        np.testing.assert_array_equal(got, wanted)
        assert np.ptp(got) > 0.1
