"""Concatenations, next to the quantized module in PyTorch: every form of them, and the blocks of known networks."""

import random

import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.ops.registry import calls
from cmsis_nn_delegate.partition.backend import debug_handles
from cmsis_nn_delegate.testing.lowering import Branch, branches_apart, lowered, ops_before


def image(*shape):
    return torch.randn(shape)


def check_each(branches, io):
    """All operators of all branches are delegated in one call, and at most one step away from PyTorch."""
    torch.manual_seed(0)
    found = branches_apart({name: make() for name, make in branches.items()}, io)
    far = {name: apart.distance for name, apart in found.items() if apart.distance > 1}
    assert not far, f"steps apart: {far}"
    return found


def pair(function, *shape):
    """A branch of two linear layers of an input, which `function` puts together."""
    return lambda: Branch(_Pair(function, shape[-1]), (torch.randn(shape),))


class _Pair(nn.Module):
    def __init__(self, function, features):
        super().__init__()
        self.function = function
        self.first, self.second = nn.Linear(features, 4), nn.Linear(features, 4)

    def forward(self, x):
        return self.function(self.first(x), self.second(x))


FORMS = {
    "cat": pair(lambda a, b: torch.cat([a, b], 1), 1, 6),
    "concat, last axis": pair(lambda a, b: torch.concat((a, b, a), dim=-1), 2, 3, 6),
    "concatenate": pair(lambda a, b: torch.concatenate([a, b]), 2, 6),
    "stack": pair(lambda a, b: torch.stack([a, b], 1), 1, 6),
    "stack, last axis": pair(lambda a, b: torch.stack((a, b, b), -1), 1, 6),
    "hstack": pair(lambda a, b: torch.hstack([a, b]), 2, 6),
    "vstack": pair(lambda a, b: torch.vstack([a, b]), 2, 6),
    "dstack": pair(lambda a, b: torch.dstack([a, b]), 2, 6),
    "column_stack": pair(lambda a, b: torch.column_stack([a, b]), 2, 6),
    "row_stack": pair(lambda a, b: torch.row_stack([a, b]), 2, 6),
    "one tensor": pair(lambda a, b: torch.cat([a]) + b, 1, 6),
    "flattened": pair(lambda a, b: torch.stack([a, b], 2).flatten(1), 2, 6),
    "rank 6": pair(lambda a, b: torch.cat([a, b], 4), 1, 2, 1, 2, 2, 6),
}


def _written(write):
    def function(a, b):
        y = a + 2 * b
        write(y, a)
        return y

    return pair(function, 2, 6, 5)


def _fill(part):
    def write(y, a):
        y[part] = 0.5

    return _written(write)


def _copy(y, a):
    y[:, 1:3] = a[:, 2:4]


WRITES = {
    "first": _fill((slice(None), slice(0, 2))),
    "one": _fill((slice(None), 1)),
    "last": _fill((..., -1)),
    "every second": _fill((slice(None), slice(0, None, 2))),
    "inner": _fill((slice(None), slice(1, 3), slice(1, 2))),
    "nothing": _fill((slice(None), slice(2, 2))),
    "copied": _written(_copy),
}


def test_writes_into_parts():
    """What is written in place is put between what stays."""
    check_each(WRITES, "float")


def test_forms():
    check_each(FORMS, "float")


class WithConstant(nn.Module):
    """Puts the result of a layer and a constant together."""

    def __init__(self, function, layer, *shape):
        super().__init__()
        self.function, self.layer, self.constant = function, layer, nn.Parameter(torch.randn(shape))

    def forward(self, x):
        return self.function(self.layer(x), self.constant)


def token(function, *shape):
    """A branch of a sequence of vectors, with which `function` puts a constant of this shape together."""
    return lambda: Branch(WithConstant(function, nn.Linear(6, 6), *shape), (torch.randn(2, 4, 6),))


def plane(axis, *shape):
    """A branch of images, with which a constant of this shape is put together along `axis`."""
    layer = nn.Conv2d(3, 4, 1)
    join = WithConstant(lambda x, c: torch.cat([x, c], axis), layer, *shape)
    return lambda: Branch(nn.Sequential(join, nn.MaxPool2d(2)), (image(shape[0], 3, 4, 6),))


CONSTANTS = {
    "class token": token(lambda x, c: torch.cat([c.expand(2, -1, -1), x], 1), 1, 1, 6),
    "stack": token(lambda x, c: torch.stack([c, x, c], 1), 2, 4, 6),
    "last axis": token(lambda x, c: torch.cat([x, c], -1), 2, 4, 3),
    "transposed": token(lambda x, c: torch.cat([x, c.transpose(1, 2)], 1), 2, 6, 2),
    "with a fixed scale": token(lambda x, c: torch.cat([x.sigmoid(), c], 1), 2, 1, 6),
    "created in forward": token(lambda x, c: torch.cat([x, x.new_ones(2, 1, 6)], 1) + c, 2, 5, 6),
    "of concatenations": token(lambda x, c: torch.cat([torch.cat([x, c], 1), x], 1), 2, 1, 6),
    "channels": plane(1, 1, 2, 4, 6),
    "rows": plane(2, 1, 4, 2, 6),
    "columns": plane(3, 2, 4, 4, 2),
}


def test_constants():
    found = check_each(CONSTANTS, "int8")
    assert all("join" in apart.ops for apart in found.values())


class Wide(nn.Module):
    """A concatenation of many tensors: results of a layer of different sizes along the axis, the input itself, the same
    tensor again, and constants."""

    def __init__(self, count, axis, shape, draw):
        super().__init__()
        self.count, self.axis, self.draw = count, axis, draw
        self.layer = nn.Linear(shape[-1], shape[-1])
        self.constant = nn.Parameter(torch.randn(shape))
        self.kinds = [draw.choice(["part", "part", "relu", "again", "input", "constant"]) for _ in range(count)]
        self.spans = [sorted(draw.sample(range(shape[axis] + 1), 2)) for _ in range(count)]

    def forward(self, x):
        y, operands = self.layer(x), []
        for kind, (start, end) in zip(self.kinds, self.spans):
            source = {"input": x, "constant": self.constant}.get(kind, y)
            part = source.narrow(self.axis, start, end - start)
            operands.append(operands[-1] if kind == "again" and operands else part.relu() if kind == "relu" else part)
        return torch.cat(operands, self.axis)


def wide(count, axis, *shape):
    return lambda: Branch(Wide(count, axis, shape, random.Random(count)), (torch.randn(shape),))


# More operands than a payload has inputs and outputs, and than powers of that.
WIDE = {
    f"{count} operands along {axis} of {shape}": wide(count, axis, *shape)
    for count, axis, shape in [
        (13, 0, (3, 2)),
        (16, 1, (1, 4, 2)),
        (40, 2, (2, 2, 5)),
        (64, 3, (1, 2, 2, 3)),
        (150, 0, (2, 2)),
    ]
}


def test_any_number_of_operands():
    check_each(WIDE, "int8")


class Images(nn.Module):
    """A concatenation of images along an axis."""

    def __init__(self, axis):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 1)
        self.axis = axis

    def forward(self, x):
        return F.max_pool2d(torch.cat([F.relu(self.first(x)), self.second(x)], self.axis), 2)


class Dense(nn.Module):
    """Layers of a dense block, and the transition after it."""

    def __init__(self, layers=2):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.layers = nn.ModuleList(nn.Conv2d(8 + 4 * i, 4, 3, padding=1) for i in range(layers))
        self.transition = nn.Conv2d(8 + 4 * layers, 8, 1)

    def forward(self, x):
        features = [F.relu(self.stem(x))]
        for layer in self.layers:
            features.append(F.relu(layer(torch.cat(features, 1))))
        return F.avg_pool2d(self.transition(torch.cat(features, 1)), 2)


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.three, self.reduce = nn.Conv2d(6, 5, 1), nn.Conv2d(4, 7, 3, padding=1), nn.Conv2d(6, 4, 1)
        self.pooled = nn.Conv2d(6, 3, 1)

    def forward(self, x):
        branches = [self.one(x), self.three(F.relu(self.reduce(x)))]
        branches.append(self.pooled(F.max_pool2d(x, 3, 1, 1)))
        return F.relu(torch.cat([*branches, x], 1))


class Fire(nn.Module):
    """Of SqueezeNet."""

    def __init__(self):
        super().__init__()
        self.squeeze, self.one, self.three = nn.Conv2d(6, 4, 1), nn.Conv2d(4, 8, 1), nn.Conv2d(4, 8, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return F.adaptive_avg_pool2d(torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1), 1).flatten(1)


class Skip(nn.Module):
    """A skip connection that several operators read."""

    def __init__(self):
        super().__init__()
        self.down, self.inner, self.up = (nn.Conv2d(c, 4, 3, padding=1) for c in (3, 4, 8))

    def forward(self, x):
        skip = F.relu(self.down(x))
        inner = F.relu(self.inner(skip))
        return self.up(torch.cat([skip, inner], 1)) + skip


class Heads(nn.Module):
    """Scores and boxes of two feature maps, as detectors put them together."""

    def __init__(self):
        super().__init__()
        self.features, self.smaller = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 6, 3, 2, 1)
        self.scores, self.boxes = nn.Linear(6, 2), nn.Linear(6, 4)

    def forward(self, x):
        maps = [self.features(x)]
        maps.append(self.smaller(maps[0]))
        pooled = [F.adaptive_avg_pool2d(each, 1).flatten(1) for each in maps]
        return torch.cat([torch.cat([self.scores(each), self.boxes(each)], 1) for each in pooled], 0)


class ShuffleUnit(nn.Module):
    """Of ShuffleNet V2: half of the channels go around the layers, and then they are mixed."""

    def __init__(self):
        super().__init__()
        self.first, self.depthwise = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3, padding=1, groups=4)
        self.stem = nn.Conv2d(3, 8, 1)

    def forward(self, x):
        kept, changed = self.stem(x).chunk(2, 1)
        x = torch.cat([kept, F.relu(self.first(self.depthwise(changed)))], 1)
        n, c, h, w = x.shape
        return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


class UNet(nn.Module):
    """One level of it."""

    def __init__(self):
        super().__init__()
        self.down, self.inner, self.up = (nn.Conv2d(c, 4, 3, padding=1) for c in (3, 4, 8))

    def forward(self, x):
        skip = F.relu(self.down(x))
        inner = F.relu(self.inner(F.max_pool2d(skip, 2)))
        return self.up(torch.cat([F.interpolate(inner, scale_factor=2, mode="nearest"), skip], 1))


BLOCKS = {
    **{f"axis {axis}": lambda axis=axis: Branch(Images(axis), (image(1, 3, 6, 4),)) for axis in range(4)},
    "batch": lambda: Branch(Images(2), (image(2, 3, 6, 4),)),
    "dense": lambda: Branch(Dense(), (image(1, 3, 8, 6),)),
    "dense of many layers": lambda: Branch(Dense(14), (image(1, 3, 4, 4),)),
    "inception": lambda: Branch(Inception(), (image(1, 6, 5, 7),)),
    "fire": lambda: Branch(Fire(), (image(1, 6, 5, 7),)),
    "skip": lambda: Branch(Skip(), (image(1, 3, 6, 6),)),
    "shuffle": lambda: Branch(ShuffleUnit(), (image(1, 3, 4, 4),)),
    "unet": lambda: Branch(UNet(), (image(1, 3, 6, 4),)),
    "heads": lambda: Branch(Heads(), (image(1, 3, 6, 6),)),
}


def test_blocks():
    found = check_each(BLOCKS, "int8")
    # Whatever is contiguous in memory is computed in its place.
    assert "strided_copy" not in found["axis 2"].ops + found["axis 0"].ops + found["heads"].ops
    assert found["fire"].ops.count("strided_copy") == 2
    # What one layer of a dense block reads is a part of what the next one reads.
    assert found["dense"].ops.count("strided_copy") == 4
    # Half of the channels to the layers, half and the layers' result to their places, and the shuffle.
    assert found["shuffle"].ops.count("strided_copy") == 4
    # Pixels are repeated right where they go.
    assert found["unet"].ops.count("strided_copy") == 2


def test_calls_stand_for_the_concatenations_that_they_write_for():
    result = lowered(_Pair(lambda a, b: torch.cat([a, b], 1), 6), torch.randn(1, 6), io="int8")
    graph = result.graph()
    assert ops_before(graph, graph.outputs[0]) == ["fully_connected", "fully_connected", "join"]
    assert len(debug_handles(graph)) == len(calls(graph)) == 2
    assert all(any("cat" in source for source in node.sources) for node in calls(graph))
