"""Compares compiled models that write in place, in ExecuTorch's runtime on the host, with the float module."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.in_place_forms import INPUT_SHAPE, Writer

make_torch_faster()

LIBRARY = "runtime/libcmsis_nn_delegate.so"
FORMS = [
    "slice",
    "view",
    "relu_of_slice",
    "new_buffer",
    "own_buffer",
    "remembered",
    "index",
    "copy",
    "select",
    "transpose",
    "chunk",
    "part_of_input",
    "norm_and_layer",
]


@pytest.mark.parametrize("form", FORMS)
def test_programs_compute_what_the_module_does(form):
    module = Writer(form).eval()
    generator = torch.Generator().manual_seed(0)
    samples = [torch.randn(INPUT_SHAPE, generator=generator) for _ in range(3)]
    compiled = compile_model(copy.deepcopy(module), (samples[0],), "cortex-m55", [(x,) for x in samples])
    program = HostProgram(compiled.pte, LIBRARY)
    for x in samples:
        with torch.no_grad():
            wanted = module(x.clone()).numpy()
        (got,) = program.run([x.numpy()])
        # A few steps; each value is quantized three times on its way.
        assert np.abs(got - wanted).max() < 0.05 * np.abs(wanted).max()
