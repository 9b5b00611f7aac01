"""Networks of the kinds that people bring are one delegate call each, and every byte is the same in the integer
reference, under ExecuTorch's runtime on the host, and on simulated cores."""

import numpy as np
import pytest
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.networks import NETWORKS
from tests.coverage.outcome import LIBRARY

make_torch_faster()

IMAGES = {"cortex-m4": "runtime/cortex_m4.elf", "cortex-m55": "runtime/cortex_m55.elf"}
SAMPLES = 3


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name):
    module, inputs = NETWORKS[name]()
    samples = [tuple(torch.randn_like(x) for x in inputs) for _ in range(SAMPLES)]
    compiled = compile_for_targets(module, inputs, list(IMAGES), samples, observer="minmax", name=name)
    for result in compiled:
        assert result.graph is not None, "\n".join([result.obstacle, *map(str, result.refused)])
    arrays = [[x.numpy() for x in sample] for sample in samples]
    wanted = [reference.run(compiled[0].graph, sample) for sample in arrays]
    host = HostProgram(compiled[0].pte, LIBRARY)
    found = {"host": [host.run(sample) for sample in arrays]}
    for result in compiled:
        found[result.target.name] = simulate.run(result.payload, arrays, IMAGES[result.target.name]).outputs
    for where, outputs in found.items():
        differing = sum(
            int(np.count_nonzero(a.view(np.uint8) != b.view(np.uint8)))
            for sample, expected in zip(outputs, wanted, strict=True)
            for a, b in zip(sample, expected, strict=True)
        )
        assert differing == 0, f"{where}: {differing} bytes differ"
