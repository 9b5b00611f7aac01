"""ExecuTorch's own flow with `CmsisNnPartitioner` gives the payloads of `compile_model`, byte for byte."""

import copy

import pytest
import torch
from executorch.exir import to_edge_transform_and_lower
from torch import nn

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.partition.backend import CmsisNnBackend
from cmsis_nn_delegate.partition.exir import LoweredBackendModule
from cmsis_nn_delegate.partition.partitioner import CmsisNnPartitioner
from cmsis_nn_delegate.selection.options import PayloadKeywords
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.mlperf_tiny.networks import NETWORKS

make_torch_faster()

OPTIONS = {
    "default": {},
    "ram": {"prefer": "ram"},
    "ram without bands": {"prefer": "ram", "max_slowdown": 0},
    "bands": {"max_slowdown": 33.3},
    "flash": {"prefer": "flash"},
    "larger constants": {"max_flash_growth": 1 << 20},
    "caller": {"io_placement": "caller"},
    "portable": {"providers": ["portable"]},
    "memories": {"memories": [Memory("fast", 4096), Memory("slow", 1 << 20)]},
    "copies": {"memories": [Memory.of("fast=1K:weights")]},
    "all passes but one": {"skip_passes": ["drop-idle-clamps"]},
}


def lowered(program, target, **options):
    """Returns the partitions that ExecuTorch's own function makes."""
    edge = to_edge_transform_and_lower(
        copy.deepcopy(program), partitioner=[CmsisNnPartitioner(target, prepared=True, **options)]
    )
    parts = [part for _, part in edge.exported_program().graph_module.named_children()]
    return [part for part in parts if isinstance(part, LoweredBackendModule)]


@pytest.fixture(scope="module")
def wide_between():
    """A quantized module whose arena gets smaller by each of the options."""
    torch.manual_seed(0)
    middle = nn.Conv2d(32, 32, 3, 2, 1, groups=32)
    module = nn.Sequential(
        nn.Conv2d(2, 8, 1),
        nn.Conv2d(8, 32, 1),
        middle,
        nn.Conv2d(32, 8, 1),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.Softmax(1),
        nn.ReLU(),
    )
    x = torch.linspace(-1, 1, 2 * 20 * 20).reshape(1, 2, 20, 20)
    return compile_model(module, (x,), "cortex-m4", [(x,)], check=False).program, x


def test_every_option(wide_between):
    program, x = wide_between
    (partition,) = lowered(program, "cortex-m4")
    found = {}
    for name, options in OPTIONS.items():
        compiled = compile_model(program, (x,), "cortex-m4", **options)
        # As ExecuTorch calls it.
        specs = CmsisNnPartitioner("cortex-m4", **options).delegation_spec.compile_specs
        found[name] = CmsisNnBackend.preprocess(partition.original_module, specs).processed_bytes
        assert found[name] == compiled.payload, name
    # Each of them changes something, so that none can be ignored on both ways.
    for name in set(OPTIONS) - {"default", "ram without bands"}:
        assert found[name] != found["default"], name
    assert found["ram"] != found["ram without bands"]
    # No option is missing.
    given = {option for options in OPTIONS.values() for option in options}
    assert given == PayloadKeywords.__annotations__.keys()


# Preferring RAM takes long where there are many bands to try.
@pytest.mark.parametrize(
    "name, prefer", [("ds_cnn", "speed"), ("resnet8", "flash"), ("mobilenet_v1_025", "ram"), ("autoencoder", "ram")]
)
def test_networks(name, prefer):
    network = NETWORKS[name]
    x = torch.rand(network.input_shape, generator=torch.Generator().manual_seed(1))
    compiled = compile_model(
        network.random(), (x,), "cortex-m55", [(x,)], check=False, observer="minmax", prefer=prefer
    )
    (partition,) = lowered(compiled.program, "cortex-m55", prefer=prefer)
    assert partition.processed_bytes == compiled.payload
