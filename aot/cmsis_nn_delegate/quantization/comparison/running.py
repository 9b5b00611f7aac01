"""Running modules node by node, comparing tensors, and describing how they differ."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Optional, Union

import torch
import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401  defines torch.ops.quantized_decomposed
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from ...support.errors import UserError
from ..in_place import describe, frozen_nodes, written_buffers

Sample = tuple[torch.Tensor, ...]

_Q = torch.ops.quantized_decomposed
DEQUANTIZES = (
    _Q.dequantize_per_tensor.default,
    _Q.dequantize_per_channel.default,
    torch.ops.torchao.dequantize_affine.default,
)

_PARTS = 16
_PIECE = 1 << 16  # elements
_SEED = 0
FLOAT_TOLERANCE = 0.02  # of a tensor's range


def fail(where: Union[Node, str], what: str) -> NoReturn:
    """UserError: the models part at a node or output."""
    where = describe(where) if isinstance(where, Node) else where
    raise UserError(
        f"the quantized model parts from the float model at {where}: {what}. That is a defect of the "
        "conversion and not of the model: please report it; check=False (--no-check) compiles all the same",
        exit_code=1,
    )


class Values(Mapping[Node, Any]):
    """The values of the nodes of a module, or of those `wanted`. Weights, and what is computed of them alone, are
    computed each time they are asked for, because keeping them would hold the model's weights several times; so are
    dequantized activations, which are four times as large as quantized ones."""

    def __init__(self, module: GraphModule, wanted: Optional[Collection[Node]] = None) -> None:
        self._module = module
        self._wanted = wanted
        frozen = frozen_nodes(module.graph)
        self._computed = frozen | {node for node in module.graph.nodes if node.target in DEQUANTIZES}
        self._kept: dict[Node, Any] = {}

    def keep(self, node: Node, value: Any) -> None:
        """Keeps `value` as it is now."""
        if node not in self._computed and (self._wanted is None or node in self._wanted):
            self._kept[node] = value.clone() if isinstance(value, torch.Tensor) else value

    def __getitem__(self, node: Node) -> Any:
        if node not in self._computed:
            return self._kept[node]
        if node.op == "get_attr":
            return operator.attrgetter(str(node.target))(self._module)
        if node.op == "call_module":  # an observer
            source: Any = node.args[0]
            return self[source]
        target: Any = node.target
        return target(*map_arg(node.args, self.__getitem__), **map_arg(node.kwargs, self.__getitem__))

    def __iter__(self) -> Iterator[Node]:
        return iter(self._module.graph.nodes)

    def __len__(self) -> int:
        return len(self._module.graph.nodes)


def by_channels(
    function: Callable[..., torch.Tensor],
    value: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    *limits: Any,
    **options: Any,
) -> torch.Tensor:
    """Returns what a function of PyTorch that quantizes or dequantizes channels makes of `value`, a few channels at a
    time, because it takes four times the memory of its float32 result."""
    result: Optional[torch.Tensor] = None
    for channels in torch.arange(value.shape[axis]).chunk(_PARTS):
        begin, count = int(channels[0]), len(channels)
        rows = slice(begin, begin + count)
        part = function(value.narrow(axis, begin, count), scale[rows], zero_point[rows], axis, *limits, **options)
        if result is None:
            result = torch.empty_like(value, dtype=part.dtype)
        result.narrow(axis, begin, count).copy_(part)
    return value.to(torch.float32) if result is None else result


class Frugal(Interpreter):
    """Runs a module whose weights are quantized, with `by_channels`."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.extra_traceback = False  # that rewrites messages

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is _Q.dequantize_per_channel.default:
            return by_channels(target, *args, **kwargs)
        return super().call_function(target, args, kwargs)


class _Recorder(Frugal):
    """Keeps the values of nodes as they were when the node had run."""

    def __init__(
        self, module: GraphModule, see: Optional[Callable[[Node, Any], None]], wanted: Optional[Collection[Node]]
    ) -> None:
        super().__init__(module)
        self.values = Values(module, wanted)
        self._see = see

    def run_node(self, node: Node) -> Any:
        # Observers return what they are given, and must not learn from it once more.
        source: Any = node.args[0] if node.args else None
        value = self.env[source] if node.op == "call_module" else super().run_node(node)
        self.values.keep(node, value)
        if self._see is not None:
            self._see(node, value)
        return value


class InitialStates:
    """The states of modules as they are when it is made."""

    def __init__(self, *modules: GraphModule) -> None:
        self._initial = [(state, state.clone()) for module in modules for state in written_buffers(module).values()]

    def restore(self) -> None:
        """Sets the states back."""
        for state, initial in self._initial:
            state.copy_(initial)


def run(
    module: GraphModule,
    sample: Sample,
    see: Optional[Callable[[Node, Any], None]] = None,
    wanted: Optional[Collection[Node]] = None,
) -> Values:
    """The values of all nodes, or of those `wanted`. `see` is given the value of every node."""
    recorder = _Recorder(module, see, wanted)
    call(recorder.run, sample)
    return recorder.values


class Stepwise(Mapping[Node, Any]):
    """The values of the nodes of a module on one sample. The module runs as far as it is asked for, and the values
    `wanted` are kept until they are forgotten: for large models that is a small part of them all."""

    def __init__(self, module: GraphModule, sample: Sample, wanted: Collection[Node]) -> None:
        self._frozen = frozen_nodes(module.graph)
        self._interpreter = Frugal(module)
        self._interpreter.args_iter = iter(module.graph.process_inputs(*(x.clone() for x in sample)))
        self._graph = module.graph
        self._nodes = iter(module.graph.nodes)
        self._wanted = wanted
        self._kept: dict[Node, Any] = {}
        self._random = torch.Generator().manual_seed(_SEED).get_state()

    def __getitem__(self, node: Node) -> Any:
        if node not in self._kept:
            # What runs between two steps may draw random numbers, too.
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(self._random)
                while node not in self._kept:
                    self._step()
                self._random = torch.get_rng_state()
        return self._kept[node]

    def _step(self) -> None:
        node, interpreter = next(self._nodes), self._interpreter
        value = interpreter.env[node] = interpreter.run_node(node)
        for last in interpreter.user_to_last_uses.get(node, []):
            del interpreter.env[last]
        if node in self._wanted:
            # What is computed of weights alone stays as it is.
            copied = isinstance(value, torch.Tensor) and node not in self._frozen
            self._kept[node] = value.clone() if copied else value

    def forget(self, node: Node) -> None:
        self._kept.pop(node, None)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._graph.nodes)

    def __len__(self) -> int:
        return len(self._graph.nodes)


def call(function: Callable[..., Any], sample: Sample) -> list[Any]:
    """The results for copies of the tensors, with the same random numbers in each call."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(_SEED)
        return pytree.tree_leaves(function(*(x.clone() for x in sample)))


def outputs(values: Mapping[Node, Any]) -> list[Any]:
    return pytree.tree_leaves(values[next(node for node in values if node.op == "output")])


def is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def close(a: Any, b: Any, tolerance: float) -> bool:
    """Whether float tensors differ by at most `tolerance` of the range of `b`."""
    if not is_float(a) or not is_float(b):
        return True
    if a.shape != b.shape:
        return False
    if not b.numel():
        return True
    return difference(a, b) <= tolerance * extent(b) + 1e-30


def difference(a: torch.Tensor, b: torch.Tensor) -> float:
    """Returns the largest difference, counting only elements at which `b` is finite; NaN if `a` is NaN at one."""
    return _largest(_difference(x, y) for x, y in zip(pieces(a), pieces(b)))


def extent(x: torch.Tensor) -> float:
    """The largest absolute value, infinities left out."""
    return _largest(map(_extent, pieces(x)))


def pieces(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Returns the elements of `x` in parts, so that what is computed of large tensors takes little memory."""
    return torch.split(x.reshape(-1), _PIECE)


# Almost all tensors are finite. A largest value that is finite tells so in one pass; a mask takes several.


def _difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    differences = (x - y).abs_()
    largest = differences.amax() if differences.numel() else differences
    return largest if bool(largest.isfinite().all()) else differences[torch.isfinite(y)]


def _extent(x: torch.Tensor) -> torch.Tensor:
    if not x.numel():
        return x
    low, high = x.aminmax()
    largest = torch.maximum(-low, high)
    return largest if bool(largest.isfinite()) else x[torch.isfinite(x)].abs_()


def _largest(values: Iterable[torch.Tensor]) -> float:
    """Returns the largest of some numbers from 0 on; NaN if one is NaN, and 0 if there are none."""
    found = [float(piece.max()) for piece in values if piece.numel()]
    return math.nan if any(map(math.isnan, found)) else max(found, default=0.0)
