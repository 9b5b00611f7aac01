"""One-dimensional layers computed as two-dimensional ones give the same results, with no data moved between them."""

import pytest
import torch
from hypothesis import given, settings, strategies
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.quantization.batch_norms import batch_norms_to_convolutions
from cmsis_nn_delegate.quantization.crops import crops_to_padding
from cmsis_nn_delegate.quantization.prepare import remove_identities, unpad_same
from cmsis_nn_delegate.quantization.sequences import images_of_sequences
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Branch, Branches, Function

make_torch_faster()

aten = torch.ops.aten
RESHAPES = {aten.squeeze.dim, aten.unsqueeze.default}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def random_norm(channels, kind=nn.BatchNorm1d, **options):
    """A batch norm far from the identity."""
    norm = kind(channels, **options)
    norm.running_mean.uniform_(-1, 1)
    norm.running_var.uniform_(0.2, 4)
    if norm.affine:
        nn.init.uniform_(norm.weight, -2, 2)
        nn.init.uniform_(norm.bias, -1, 1)
    return norm


def rewritten(module, *inputs):
    """The graph module after the rewrites of the quantizer, which must compute what `module` does."""
    module = module.eval()
    graph = torch.export.export(module, inputs).module(check_guards=False)
    with torch.no_grad():
        wanted = module(*inputs)
        for rewrite in (
            remove_identities,
            images_of_sequences,
            unpad_same,
            crops_to_padding,
            batch_norms_to_convolutions,
        ):
            rewrite(graph)
        torch.testing.assert_close(graph(*inputs), wanted)
    return graph


def targets(graph):
    return [str(node.target).removeprefix("aten.") for node in graph.graph.nodes if node.op == "call_function"]


def _integers(low, high):
    return strategies.integers(low, high)


@strategies.composite
def layers(draw):
    """A one-dimensional layer of 4 channels with any parameters."""
    kernel, stride, dilation = draw(_integers(1, 4)), draw(_integers(1, 3)), draw(_integers(1, 2))
    groups, padding, flag, out = draw(_integers(1, 2)), draw(_integers(0, 3)), draw(strategies.booleans()), 6
    half, size = min(padding, kernel // 2), draw(_integers(1, 6))
    extra = draw(_integers(0, max(stride, dilation) - 1))
    return draw(
        strategies.sampled_from(
            [
                nn.Conv1d(4, out, kernel, stride, padding, dilation, groups, flag),
                nn.Conv1d(4, out, kernel, padding="same", dilation=dilation, groups=groups, bias=flag),
                nn.ConvTranspose1d(4, out, kernel, stride, half, extra, groups, flag, dilation),
                nn.MaxPool1d(kernel, stride, half, dilation, ceil_mode=flag),
                nn.AvgPool1d(kernel, stride, half, flag, draw(strategies.booleans())),
                nn.AdaptiveAvgPool1d(size),
                nn.AdaptiveMaxPool1d(size),
            ]
        )
    )


@settings(max_examples=3, deadline=None, derandomize=True)
@given(strategies.lists(layers(), min_size=20, max_size=20), _integers(12, 15))
def test_layers_with_windows(found, length):
    """Many at once, because each export takes its time."""
    graph = rewritten(
        Branches([Branch(layer, (torch.randn(2, 4, length),)) for layer in found]), *[torch.randn(2, 4, length)] * 20
    )
    assert not [name for name in targets(graph) if "1d" in name]


SCALE, OFFSET = torch.rand(4, 1), torch.rand(1, 4, 1)
AROUND = {
    # name: (function of a layer and an input, how many squeezes and unsqueezes remain)
    "pad before": (lambda c, x: c(F.pad(x, (2, 0))), 2),
    "pad channels too": (lambda c, x: c(F.pad(x[:, :2], (1, 0, 1, 1))), 2),
    "reflect": (lambda c, x: c(F.pad(x, (2, 1), mode="reflect")), 2),
    "elementwise on both sides": (lambda c, x: F.silu(c(torch.sigmoid(x))) * 0.5, 2),
    "sum with a branch": (lambda c, x: c(x) + c(F.relu(x)) + x, 2),
    "a scale per channel": (lambda c, x: c(x) * SCALE + OFFSET, 2),
    "prelu": (lambda c, x: F.prelu(c(x), torch.arange(4.0)), 2),
    "concatenation": (lambda c, x: c(torch.cat([c(x)[:, :2], x[:, 2:]], 1)), 2),
    "concatenation in time": (lambda c, x: c(torch.cat([x, c(x)], -1)), 2),
    "halves": (lambda c, x: [a * torch.sigmoid(b) for a, b in [torch.chunk(c(x), 2, 1)]][0], 2),
    "mean over time": (lambda c, x: c(x).mean(-1), 1),
    "mean over time, kept": (lambda c, x: c(x).mean(2, keepdim=True) * c(x), 2),
    "mean over channels": (lambda c, x: c(x).mean(1), 2),
    "maximum over time": (lambda c, x: c(x).amax(-1), 1),
    "softmax over channels": (lambda c, x: c(x).softmax(1), 2),
    "group norm": (lambda c, x: F.group_norm(c(x), 2), 2),
    "flattened": (lambda c, x: c(x).flatten(1), 2),
    "transposed for a linear layer": (lambda c, x: c(x).transpose(1, 2) + 1.0, 2),
    "last step": (lambda c, x: c(x)[:, :, -1], 2),
    "upsampled": (lambda c, x: c(F.interpolate(c(x), scale_factor=2.0)), 2),
    "upsampled linearly": (lambda c, x: F.interpolate(c(x), 23, mode="linear"), 2),
    "maximum and its place": (lambda c, x: F.max_pool1d(c(x), 2, return_indices=True), 2),
    "no layer": (lambda c, x: F.relu(x).mean(-1), 0),
    "of one vector": (lambda c, x: c(x[0]), 0),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_lies_between_layers(name):
    function, reshapes = AROUND[name]
    conv = nn.Conv1d(4, 4, 3, padding=1)
    graph = rewritten(Function(lambda x: function(conv, x), conv=conv), torch.randn(2, 4, 9))
    assert sum(node.target in RESHAPES for node in graph.graph.nodes) == reshapes


def test_a_weight_of_two_layers_stays_one():
    conv = nn.Conv1d(4, 4, 3)
    graph = rewritten(Function(lambda x: conv(conv(x)), conv=conv), torch.randn(1, 4, 9))
    weights = {node.target for node in graph.graph.nodes if node.op == "get_attr"}
    assert len(weights) == 2 == len(list(graph.parameters()))


@pytest.mark.parametrize(
    "shape, kind", [((2, 4), nn.BatchNorm1d), ((2, 4, 7), nn.BatchNorm1d), ((1, 4, 3, 2), nn.BatchNorm2d)]
)
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norms_become_convolutions(shape, kind, affine):
    norm = random_norm(4, kind, affine=affine, eps=0.01)
    graph = rewritten(nn.Sequential(nn.ReLU(), norm), torch.randn(shape))
    assert "batch_norm.default" not in targets(graph) and targets(graph).count("conv2d.default") == 1


def test_other_batch_norms_stay():
    graph = rewritten(random_norm(3, nn.BatchNorm3d), torch.randn(1, 3, 2, 2, 2))
    assert targets(graph) == ["batch_norm.default"]
    program = torch.export.export(nn.BatchNorm2d(3).train(), (torch.randn(2, 3, 2, 2),))
    graph = program.module(check_guards=False)
    batch_norms_to_convolutions(graph)
    assert "batch_norm.default" in targets(graph)


@strategies.composite
def crops(draw):
    """(a convolution, first and last row of its output that are left)."""
    kernel, padding, stride = draw(_integers(1, 4)), draw(_integers(0, 4)), draw(_integers(1, 2))
    size = (padding, draw(_integers(0, 1)))
    conv = nn.Conv2d(2, 2, (kernel, 1), (stride, 1), size, (draw(_integers(1, 2)), 1))
    return conv, draw(_integers(0, 2)), draw(_integers(-3, 12))


@settings(max_examples=3, deadline=None, derandomize=True)
@given(strategies.lists(crops(), min_size=20, max_size=20))
def test_crops(found):
    """A slice of height becomes less padding wherever the convolution then still reads all of its input."""
    rows = 9
    modules, stay = [], 0
    for conv, start, stop in found:
        modules.append(Function(lambda x, c=conv, a=start, b=stop: c(x)[:, :, a:b], conv=conv))
        size = conv(torch.zeros(1, 2, rows, 4)).shape[2]
        count = len(range(size)[start:stop])
        first = conv.padding[0] - start * conv.stride[0]  # rows of padding that are left at the top
        end = (count - 1) * conv.stride[0] + (conv.kernel_size[0] - 1) * conv.dilation[0] + 1 - first
        stay += count == 0 or first < 0 or end < rows
    graph = rewritten(Branches([Branch(m, (None,)) for m in modules]), *[torch.randn(1, 2, rows, 4)] * 20)
    assert targets(graph).count("slice.Tensor") == stay


def test_causal_convolutions_with_a_crop():
    """As in "An Empirical Evaluation of Generic Convolutional and Recurrent Networks for Sequence Modeling"."""
    conv = nn.Conv1d(3, 3, 3, padding=4, dilation=2)
    layers = Function(lambda x: conv(F.relu(conv(x)[:, :, :-4].contiguous()))[:, :, :-4], conv=conv)
    assert "slice.Tensor" not in targets(rewritten(layers, torch.randn(1, 3, 12)))
    read_twice = Function(lambda x: (conv(x)[:, :, :-4], conv(x)), conv=conv)
    assert "slice.Tensor" not in targets(rewritten(read_twice, torch.randn(1, 3, 12)))
    shared = Function(lambda x: [(y[:, :, :-4], y) for y in [conv(x)]][0], conv=conv)
    assert "slice.Tensor" in targets(rewritten(shared, torch.randn(1, 3, 12)))
