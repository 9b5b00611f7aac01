"""Operators that move values, from modules to the calls that are left of them."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.format.schema import MAX_IO
from cmsis_nn_delegate.testing.lowering import (
    Branch,
    Function,
    branches_apart,
    lowered,
    ops_before,
    steps_apart,
)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


MOVES = {
    "permute": lambda x: x.permute(0, 2, 3, 1),
    "permute_copy": lambda x: torch.permute_copy(x, (0, 2, 3, 1)),
    "transpose": lambda x: x.transpose(-1, 1),
    "movedim": lambda x: x.movedim(1, -1),
    "moveaxis": lambda x: x.moveaxis((2, 3), (3, 1)),
    "swapaxes": lambda x: x.swapaxes(0, 3),
    "mT": lambda x: x.mT,
    "slice": lambda x: x[:, 1:4, ::2, -3:],
    "select": lambda x: x[:, -1],
    "narrow": lambda x: x.narrow(2, 1, 3),
    "diagonal": lambda x: x[..., :4].diagonal(0, 2, 3),
    "expand": lambda x: x[:1].expand(3, -1, -1, -1),
    "expand_as": lambda x: x[:, :1].expand_as(x),
    "broadcast_to": lambda x: x.broadcast_to(2, *x.shape),
    "repeat": lambda x: x.repeat(2, 1, 3, 1),
    "tile": lambda x: x.tile(2, 3),
    "repeat_interleave": lambda x: x.repeat_interleave(3, 1),
    "flip": lambda x: x.flip(1, 3),
    "flipud": lambda x: x[0].flipud(),
    "fliplr": lambda x: x.fliplr(),
    "pixel_shuffle": nn.PixelShuffle(2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x[:, :, :, :4], 2),
    "channel_shuffle": nn.ChannelShuffle(2),
    "shuffle_by_views": lambda x: x.view(1, 2, 4, 4, 5).transpose(1, 2).contiguous().view(1, 8, 4, 5),
    "upsample": nn.Upsample(scale_factor=2),
    "upsample_to": lambda x: F.interpolate(x, size=(8, 15)),
    "upsample_exact": lambda x: F.interpolate(x, scale_factor=3, mode="nearest-exact"),
    "upsample_1d": lambda x: F.interpolate(x[:, :, 0], scale_factor=3),
    "patches": lambda x: x.view(1, 8, 2, 2, 5).permute(0, 3, 2, 4, 1).reshape(4, 40),
}


def apart_behind_one_layer(functions, channels, *size):
    """Of each function of the image that a convolution computes, by name: the operators before its result. No result is
    more than a step away. One module has as many of them as a payload has outputs."""
    found, names = {}, list(functions)
    for start in range(0, len(names), MAX_IO - 2):
        chunk = names[start : start + MAX_IO - 2]
        conv = nn.Conv2d(3, channels, 3)
        module = Function(lambda x, conv=conv, chunk=chunk: [functions[name](conv(x)) for name in chunk], conv=conv)
        distances, graph = steps_apart(module, torch.randn(1, 3, *size), io="int8")
        assert max(distances) <= 1, dict(zip(chunk, distances))
        found.update({name: ops_before(graph, output) for name, output in zip(chunk, graph.outputs)})
    return found


def test_each_is_one_copy_of_an_image_that_lies_channels_last():
    for name, ops in apart_behind_one_layer(MOVES, 8, 6, 7).items():
        # Where only a part of the image is read, only that part of the input is exchanged.
        assert ops[:2] in (["transpose", "conv2d"], ["strided_copy", "conv2d"]), name
        # One more where the order of the image in memory and that of the result do not come from one loop nest.
        copies = (["strided_copy"], ["transpose"], ["transpose", "strided_copy"], ["strided_copy", "transpose"])
        assert ops[2:] in copies, name


def scaled(factor, mode="nearest", **options):
    return lambda x: F.interpolate(x, scale_factor=factor, mode=mode, **options)


def resized(*size, mode="nearest", **options):
    return lambda x: F.interpolate(x, size=size, mode=mode, **options)


RESIZED = {
    "nearest to a size": resized(9, 5),
    "nearest by a factor": scaled((1.7, 0.6)),
    "nearest by a factor that the sizes do not say": scaled(2.4),
    "nearest-exact": scaled(1.3, "nearest-exact"),
    "twice as large": scaled(2, "bilinear"),
    "bilinear by a factor": scaled((1.7, 3.3), "bilinear"),
    "bilinear by the factor of the sizes": scaled(1.7, "bilinear", recompute_scale_factor=True),
    "smaller": resized(2, 3, mode="bilinear"),
    "aligned": resized(11, 9, mode="bilinear", align_corners=True),
    "aligned, one row": resized(1, 16, mode="bilinear", align_corners=True),
    "layer": nn.UpsamplingBilinear2d(scale_factor=3),
    "other layer": nn.Upsample(size=(7, 20), mode="bilinear"),
    "a sequence": lambda x: F.interpolate(x[:, :, 0], scale_factor=2.5, mode="linear"),
    "an aligned sequence": lambda x: F.interpolate(x[:, :, 0], size=5, mode="linear", align_corners=True),
    "the nearest of a sequence": lambda x: F.interpolate(x[:, :, 0], size=7),
    "one pixel": lambda x: F.interpolate(F.adaptive_avg_pool2d(x, 1), size=(6, 7), mode="bilinear"),
}


def test_resampled_images():
    for name, ops in apart_behind_one_layer(RESIZED, 8, 6, 7).items():
        resizing = {"resize_nearest", "resize_bilinear"}.intersection(ops)
        assert resizing == {"resize_nearest" if "nearest" in name else "resize_bilinear"}, (name, ops)


SPLITS = {
    "split": lambda x: x.split(3, 1),
    "split_with_sizes": lambda x: x.split([1, 7], 1),
    "chunk": lambda x: x.chunk(2, 1),
    "tensor_split": lambda x: x.tensor_split(3, -1),
    "hsplit": lambda x: x.hsplit(2),
    "unbind": lambda x: x.unbind(1),
    "one": lambda x: x.split(8, 1),
}


def rows(*places):
    return torch.tensor(places)


def assigned(write):
    """`write` changes a copy of what it is given, from the relu of that."""

    def function(x):
        y = x.clone()
        write(y, F.relu(x))
        return y

    return function


def put(y, index, value):
    y[index] = value


TURNED = torch.randperm(48, generator=torch.Generator().manual_seed(1))
# Of [2, 6, 8], at constant places: (function, sums and products of its elements).
CHOICES = {
    "a list": (lambda x: x[:, [0, 3, 5, 1]], ""),
    "repeated": (lambda x: x[..., rows(1, 1, 1, 4)], ""),
    "backwards": (lambda x: x.index_select(-1, rows(7, 5, 3, 1)), ""),
    "all of them": (lambda x: x.index_select(1, torch.arange(6)), ""),
    "from the end": (lambda x: x[:, [-1, -3, 0]], ""),
    "two lists": (lambda x: x[:, [0, 3, 5], [1, 7, 0]], ""),
    "rows and columns": (lambda x: x[:, rows(0, 3)[:, None], rows(1, 7, 2)], ""),
    "apart": (lambda x: x[rows(1, 0), :, rows(2, 3)], ""),
    "gathered rows": (lambda x: x.gather(1, rows(4, 0)[None, :, None].expand(2, 2, 8)), ""),
    "gathered": (lambda x: x.gather(2, torch.arange(24).reshape(2, 6, 2) % 7), ""),
    "along a dimension": (lambda x: x.take_along_dim(rows(5, 2)[None, :, None], 1), ""),
    "taken": (lambda x: x.take(rows(3, -1, 40)), ""),
    "in no order": (lambda x: x.flatten(1, 2).index_select(1, TURNED), "fully_connected"),
    "a number": (assigned(lambda y, z: put(y, (slice(None), [0, 3]), 0.0)), ""),
    "values": (assigned(lambda y, z: put(y, (slice(None), [4, 1]), z[:, :2])), ""),
    "one value": (assigned(lambda y, z: put(y, ([0, 1], [2, 5]), z[0, 0, 0])), ""),
    "copied": (lambda x: x.index_copy(1, rows(5, 0), F.relu(x[:, 2:4])), ""),
    "filled": (lambda x: x.index_fill(2, rows(1, 2, 6), -0.5), ""),
    "filled from the end": (lambda x: x.index_fill(1, rows(-1, 0), 0.5), ""),
    "filled at many places": (lambda x: x.flatten(1).index_fill(1, torch.arange(0, 48, 2), 0.5), "mul add"),
    "added": (
        lambda x: x.index_add(1, rows(4, 1, 4), F.relu(x[:, :3]), alpha=2),
        "fully_connected add",
    ),
    "added by index_put": (
        lambda x: x.index_put((rows(0, 0), rows(2, 2)), x[1, :2], accumulate=True),
        "fully_connected add",
    ),
    "scattered": (
        lambda x: x.scatter(1, rows(0, 4)[None, :, None].expand(2, 2, 8), F.relu(x)),
        "",
    ),
    "a scattered number": (lambda x: x.scatter(2, torch.arange(24).reshape(2, 6, 2) % 8, 0.25), "mul add"),
    "added by scatter": (
        lambda x: x.scatter_add(1, rows(5, 5)[None, :, None].expand(2, 2, 8), x),
        "fully_connected add",
    ),
    "a diagonal": (lambda x: torch.diagonal_scatter(x[0], x[1, 0, :6]), ""),
    "put": (lambda x: x.put(rows(4, -1), torch.zeros(2)), ""),
    "masked": (lambda x: x.masked_scatter(torch.arange(6)[:, None] > 3, F.relu(x)), ""),
    "below the diagonal": (lambda x: x.tril(), "mul"),
    "above the diagonal": (lambda x: x.triu(-1), "mul"),
    "as a diagonal": (lambda x: torch.diag_embed(x[:, 0], -1), "mul"),
    "blocks": (lambda x: torch.block_diag(x[0], x[1]), ""),
    "differences": (lambda x: x.diff(dim=1), "add"),
    "windows": (lambda x: x.unfold(1, 3, 1), ""),
    "windows apart": (lambda x: x.unfold(-1, 4, 2).flatten(2), ""),
}
# Of an image [1, 4, 6, 8].
WINDOWS = {
    "windows of an image": (lambda x: F.unfold(x, 3, padding=1), ""),
    "patches": (lambda x: F.unfold(x, 2, stride=2).transpose(1, 2), ""),
    "windows with gaps": (lambda x: F.unfold(x, (2, 3), dilation=2, padding=(1, 2), stride=(2, 1)), ""),
    "of one image": (lambda x: F.unfold(x[0], 2), ""),
    "back from patches": (lambda x: F.fold(F.unfold(x, 2, stride=2), (6, 8), 2, stride=2), "transpose_conv2d"),
    "back with a rest": (
        lambda x: F.fold(F.unfold(x, 3, padding=1, stride=2), (6, 8), 3, padding=1, stride=2),
        "transpose_conv2d",
    ),
    "chosen channels": (lambda x: x[:, [2, 0, 3]], ""),
    "chosen pixels": (lambda x: x[:, :, [0, 2, 5], [7, 1, 1]], ""),
}
_COMPUTING = {"fully_connected", "conv2d", "transpose_conv2d", "batch_matmul", "add", "mul"}


def test_constant_places():
    linear, conv = nn.Linear(8, 8), nn.Conv2d(3, 4, 1)
    branches = {
        name: Branch(Function(lambda x, f=f: f(linear(x)), linear=linear), (torch.randn(2, 6, 8),))
        for name, (f, _) in CHOICES.items()
    }
    branches |= {
        name: Branch(Function(lambda x, f=f: f(conv(x)), conv=conv), (torch.randn(1, 3, 6, 8),))
        for name, (f, _) in WINDOWS.items()
    }
    expected = {**CHOICES, **WINDOWS}
    for name, apart in branches_apart(branches).items():
        assert apart.distance <= 1 and apart.error < 0.03, name
        computing = [op for op in apart.ops[1:-1] if op in _COMPUTING]
        assert computing[:1] in (["fully_connected"], ["conv2d"]), name
        assert " ".join(computing[1:]) == expected[name][1], name


def test_sources_that_indices_or_masks_repeat_stay_outside():
    """PyTorch broadcasts the source, too."""
    index, mask = rows(0, 1, 2).reshape(3, 1, 1), torch.tensor([[True, False, True, False], [False] * 4])
    for choose in (
        lambda x: x[:1].take_along_dim(index, 1),
        lambda x: x[0, 0].masked_scatter(mask, F.relu(x[1])),
    ):
        x = torch.randn(2, 3, 4)
        compiled = compile_model(Function(choose), (x,), "cortex-m55", [(x,)])
        assert compiled.refused
        (result,) = compiled.program.module(check_guards=False)(x)
        torch.testing.assert_close(result, choose(x))


def last(split):
    return lambda x: split(x)[-1].clone()


def test_moves_that_several_read_are_one_call():
    """As ExecuTorch's Cortex-M tests have them: a matrix that is moved by itself before a maximum, and only moves."""

    def moves(x):
        x = x.unsqueeze(0)
        return x.clone(), torch.permute_copy(x, (0, 2, 1, 3)), x

    distances, graph = steps_apart(Function(lambda x, y: torch.maximum(torch.t_copy(x), y)), *torch.randn(2, 4, 4))
    assert distances == [0] and "extremum" in [node.op for node in graph.nodes]
    distances, _ = steps_apart(Function(moves), torch.randn(2, 3, 4))
    assert distances == [0, 0, 0]


def test_parts_are_slices():
    found = apart_behind_one_layer({name: last(split) for name, split in SPLITS.items()}, 8, 6, 7)
    assert found.pop("one") == ["transpose", "conv2d", "transpose"]
    assert found.pop("tensor_split") == ["strided_copy", "conv2d", "transpose"]  # only of some columns
    assert all(ops == ["transpose", "conv2d", "strided_copy"] for ops in found.values())


PADS = {
    "number": lambda x: F.pad(x, (1, 2), value=1.5),
    "zeros of all dimensions": lambda x: F.pad(x, (1, 0, 0, 2, 1, 1, 1, 0)),
    "crop": lambda x: F.pad(x, (-1, -1, 2, -1)),
    "reflect": nn.ReflectionPad2d((1, 2, 3, 0)),
    "replicate": nn.ReplicationPad2d((0, 4, 1, 0)),
    "circular": lambda x: F.pad(x, (1, 1, 2, 0), mode="circular"),
    "reflect a sequence": lambda x: F.pad(x.flatten(2), (3, 4), mode="reflect"),
    "roll": lambda x: x.roll((3, -1), (1, 3)),
    "roll all": lambda x: x.roll(5),
    "average of padded pixels": lambda x: F.pad(F.avg_pool2d(x, 2), (1, 1)),
}


def test_pads_are_copies():
    for name, ops in apart_behind_one_layer(PADS, 4, 6, 7).items():
        assert ops[-1] in ("pad_nd", "transpose") and ops.count("pad_nd") == 1, name


def test_pads_that_the_next_layer_cannot_take_over():
    layer = nn.Conv2d(4, 4, 1)
    maximum = F.max_pool2d
    pads = {
        "convolution of ones": lambda x: layer(F.pad(x, (1, 1), value=1.0)),
        "maximum of zeros": lambda x: maximum(F.pad(x, (0, 1, 0, 1)), 2),
        "empty windows": lambda x: maximum(F.pad(F.pad(F.relu(x), (1, 0, 1, 0)), (1, 0, 1, 0)), 2),
        "empty last window": lambda x: maximum(F.pad(F.relu(x), (0, 1, 0, 1)), 2, 6, ceil_mode=True),
        "channels": lambda x: maximum(F.pad(x, (0, 0, 0, 0, 1, 1)), 2),
        "two readers": lambda x: (lambda y: layer(y) + y)(F.pad(x, (1, 0))),
        "reflected": lambda x: layer(F.pad(x, (1, 1, 2, 2), mode="reflect")),
    }
    modules = {
        name: Function(pad, **({"layer": layer} if "conv" in name or name in ("two readers", "reflected") else {}))
        for name, pad in pads.items()
    }
    found = branches_apart({name: Branch(module, (torch.randn(1, 4, 5, 6),)) for name, module in modules.items()})
    for name, apart in found.items():
        assert apart.distance <= 1 and "pad_nd" in apart.ops, name


def linear_on_pixels(x, *layers):
    """As transformers of images have it: [N, C, H, W] to [N, H * W, C] and back."""
    n, _, h, w = x.shape
    x = x.flatten(2).transpose(1, 2)
    for layer in layers:
        x = layer(x)
    return x.transpose(1, 2).view(n, -1, h, w)


def test_what_keeps_the_memory_order_costs_nothing():
    conv, again = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 1)
    linear, back = nn.Linear(8, 16), nn.Linear(16, 8)

    def image():
        return (torch.randn(1, 3, 6, 7),)

    branches = {
        "linear layers of pixels": Branch(
            Function(
                lambda x: again(linear_on_pixels(conv(x), linear, F.relu, back)),
                conv=conv,
                again=again,
                linear=linear,
                back=back,
            ),
            image(),
        ),
        "there and back": Branch(
            Function(lambda x: again(conv(x).permute(0, 2, 3, 1).permute(0, 3, 1, 2)), conv=conv, again=again), image()
        ),
        "twice flipped": Branch(Function(lambda x: again(conv(x).flip(2).flip(2)), conv=conv, again=again), image()),
        "all of it": Branch(Function(lambda x: again(conv(x)[:, :8]), conv=conv, again=again), image()),
    }
    found = branches_apart(branches)
    assert all(apart.distance <= 1 for apart in found.values())
    ops = {name: " ".join(op for op in apart.ops if "quantize" not in op) for name, apart in found.items()}
    linear_layers = ops.pop("linear layers of pixels")
    assert linear_layers == "conv2d fully_connected fully_connected conv2d"
    assert set(ops.values()) == {"conv2d conv2d"}


def test_the_border_moves_what_it_converts_in_another_order():
    """A dequantize of an image and one of its pixels' channels read the same bytes in another way, as do quantizes."""
    conv = nn.Conv2d(3, 4, 3)
    branches = {
        "result": Branch(Function(lambda x: conv(x).permute(0, 2, 3, 1), conv=conv), (torch.randn(1, 3, 6, 7),)),
        "input": Branch(Function(lambda x: conv(x.permute(0, 3, 1, 2)), conv=conv), (torch.randn(1, 6, 7, 3),)),
    }
    for name, apart in branches_apart(branches).items():
        assert apart.distance <= 1, name


def test_what_no_loops_give_is_refused_under_its_own_name():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.again = nn.Conv2d(3, 4, 3), nn.Conv2d(8, 2, 1)

        def forward(self, x):
            return self.again(self.conv(x).view(1, 4, 2, 2, 4).repeat(1, 2, 2, 2, 2).view(1, 8, 16, 8))

    reports = lowered(Model(), torch.randn(1, 3, 6, 6)).reports
    (refused,) = (report for report in reports if "repeat" in report.target)
    assert not refused.delegated and "nested loops of equal steps" in refused.message
