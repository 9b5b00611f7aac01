"""A model's inputs and outputs as flat lists of tensors.

`forward` may take tensors in tuples, lists and dicts, by position or by name, and may return such structures.
A compiled program has numbered inputs and outputs instead: the tensors in the order in which
torch.utils._pytree flattens these structures. `Inputs` checks the example inputs and brings samples of
the same structure into that order; `make_flat` does it to an exported module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.graph import CodeGen
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ..support.errors import UserError
from .private_copy import require_separate_inputs

Model = Union[torch.nn.Module, ExportedProgram]
# A tuple or list by position, a dict by name; what is inside of these may be structures again.
Arguments = Union[Sequence[Any], Mapping[str, Any]]
# What `forward` is called with.
Args = tuple[Any, ...]
Bound = tuple[Args, dict[str, Any]]

_STRUCTURES = "a tuple of tensors, one for each input, or a dict of them by name"


def check_model(model: Model) -> None:
    """Raises UserError if `model` is not a model, has dynamic shapes, or computes in a type other than float32."""
    if not isinstance(model, (torch.nn.Module, ExportedProgram)):
        raise UserError(f"the model is {_kind(model)}; give a torch.nn.Module or a torch.export.ExportedProgram")
    if isinstance(model, torch.jit.ScriptModule):
        raise UserError(
            f"the model is a {_kind(model)} of TorchScript (torch.jit.script, trace or load), which torch.export does "
            "not take: give the torch.nn.Module that it was made of, with the same weights: "
            "module.load_state_dict(scripted.state_dict())"
        )
    tensors = dict(model.state_dict if isinstance(model, ExportedProgram) else model.state_dict())
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            continue  # extra state
        if is_traceable_wrapper_subclass(tensor):
            raise UserError(
                f"{name} of the model is of type {type(tensor).__name__}, which torchao.quantization.quantize_ makes "
                "for kernels of other processors: give the model as it was before, and let the compiler quantize it "
                "(weights of 4 bits: --quantizer w4), or use CmsisNnQuantizer in PT2E"
            )
        if tensor.is_complex() or (tensor.is_floating_point() and tensor.dtype != torch.float32):
            raise UserError(f"{name} of the model is {_dtype(tensor)}: convert the model with .float()")
        if tensor.device.type != "cpu":
            raise UserError(f"{name} of the model is on device {tensor.device}: move the model with .cpu()")
    if isinstance(model, ExportedProgram):
        require_separate_inputs(model)
        _check_static(model)


def _check_static(program: ExportedProgram) -> None:
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in program.graph_signature.user_inputs:
            shape = getattr(node.meta.get("val"), "shape", ())
            if any(not isinstance(size, int) for size in shape):
                raise UserError(
                    f"input {node.name} has the dynamic shape {list(map(str, shape))}: memory is planned "
                    "ahead of time; export the model with fixed shapes",
                    exit_code=1,
                )


@dataclass(frozen=True)
class Inputs:
    """The example inputs of a model.

    `args` and `kwargs` are for `forward`. `tensors` are those in them, in the order of the compiled program,
    float32, bool or, as indices, int64 or int32, and `names` are named as the parameters of `forward`, followed by
    where a tensor lies in a structure: "pair_0". Numbers, texts and None are no inputs of the compiled program: it is
    made for these values.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tensors: tuple[torch.Tensor, ...]
    names: tuple[str, ...]
    _bind: Callable[[Any, str], Bound]

    @staticmethod
    def of(model: Model, examples: Arguments) -> Inputs:
        """UserError says which input is unusable."""
        if isinstance(examples, (torch.Tensor, np.ndarray)):
            raise UserError(f"example inputs are {_STRUCTURES}; got a single tensor")
        if not isinstance(examples, (Sequence, Mapping)) or isinstance(examples, (str, bytes)):
            raise UserError(f"example inputs are {_STRUCTURES}; got {_kind(examples)}")

        def bind(arguments: Any, what: str) -> Bound:
            return _bind(model, arguments, what)

        args, kwargs = bind(examples, "the example inputs")
        tensors, names = _tensors(model, args, kwargs, "example input")
        if not tensors:
            raise UserError("there are no example inputs: the model needs at least one input")
        leaves, spec = pytree.tree_flatten((args, kwargs))
        remaining = iter(tensors)
        args, kwargs = pytree.tree_unflatten([x if is_fixed(x) else next(remaining) for x in leaves], spec)
        return Inputs(args, kwargs, tuple(tensors), tuple(names), bind)

    def flatten(self, sample: Any, what: str) -> tuple[torch.Tensor, ...]:
        """Returns the tensors of other arguments for the same model; `what` describes them, e.g. "sample 3".
        A single tensor is the sample of a model of one input. Their shapes are not checked."""
        if isinstance(sample, (torch.Tensor, np.ndarray)):
            if len(self.tensors) != 1:
                raise UserError(f"{what} is one tensor, but the model takes {self._count()}: give a tuple of them")
            return (_checked_like(sample, self.tensors[0], f"input {self.names[0]} of {what}"),)
        if not isinstance(sample, (Sequence, Mapping)) or isinstance(sample, (str, bytes)):
            raise UserError(f"{what} is {_kind(sample)}; a sample is {_STRUCTURES}")
        given = len(sample)
        if not isinstance(sample, Mapping) and given > len(self.args) + len(self.kwargs):
            raise UserError(
                f"{what} has {given} items, but the model takes {self._count()}; if the last is a label, "
                "leave it out: ((x,) for x, label in data)"
            )
        args, kwargs = self._bind(sample, what)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        wanted, wanted_spec = pytree.tree_flatten((self.args, self.kwargs))
        if spec != wanted_spec or list(map(is_fixed, leaves)) != list(map(is_fixed, wanted)):
            raise UserError(
                f"{what} is structured in another way than the example inputs: {_outline(sample)} "
                f"instead of {_outline((*self.args, *self.kwargs.values()))}"
            )
        for leaf, example in zip(leaves, wanted):
            if is_fixed(leaf) and (type(leaf), leaf) != (type(example), example):
                raise UserError(
                    f"{what} has the value {leaf!r} where the example inputs have {example!r}; the compiled model is "
                    "made for one value: give a tensor if it changes"
                )
        present = [leaf for leaf in leaves if not is_fixed(leaf)]
        return self.checked(present, what)

    def checked(self, tensors: Sequence[Any], what: str) -> tuple[torch.Tensor, ...]:
        """Checks tensors that are already in the compiled program's order."""
        return tuple(
            _checked_like(x, example, f"input {name} of {what}")
            for x, example, name in zip(tensors, self.tensors, self.names)
        )

    def _count(self) -> str:
        return f"{len(self.names)} input{'s' * (len(self.names) > 1)} ({', '.join(self.names)})"


def required_names(model: Model) -> list[str]:
    """Returns the inputs that a model requires, one name for each parameter of `forward`; ["input0"] if its signature
    does not say."""
    if isinstance(model, ExportedProgram):
        return list(model.graph_signature.user_inputs)
    signature = signature_of(model)
    parameters = signature.parameters.values() if signature else ()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [p.name for p in parameters if p.default is p.empty and p.kind not in variadic]
    return names or [p.name for p in parameters if p.kind not in variadic][:1] or ["input0"]


def signature_of(model: Model) -> Optional[inspect.Signature]:
    """Returns what `forward` takes, if it is known."""
    try:
        return None if isinstance(model, ExportedProgram) else inspect.signature(model.forward)
    except (TypeError, ValueError):  # a forward that is not written in Python
        return None


def _bind(model: Model, arguments: Arguments, what: str) -> Bound:
    """Returns (args, kwargs) for `forward`, with as many arguments by position as possible, so that the same arguments
    compare equal however they were passed."""
    by_name = isinstance(arguments, Mapping)
    args, kwargs = ((), dict(arguments)) if by_name else (tuple(arguments), {})
    if any(not isinstance(name, str) for name in kwargs):
        raise UserError(f"{what}: the keys of the dict are the names of forward's parameters, not {list(kwargs)}")
    if isinstance(model, ExportedProgram):
        return _bind_exported(model, args, kwargs, what)
    signature = signature_of(model)
    if signature is None:
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        takes = ", ".join(name for name in signature.parameters) or "nothing"
        raise UserError(f"{what} do not fit the model, whose forward takes {takes}: {error}") from error
    return bound.args, bound.kwargs


def _bind_exported(program: ExportedProgram, args: Args, kwargs: dict[str, Any], what: str) -> Bound:
    args_spec, kwargs_spec = program.call_spec.in_spec.children()
    if not args and kwargs and args_spec.num_children:
        # By name, where the program was exported with some by position.
        names = list(program.graph_signature.user_inputs)[: args_spec.num_children]
        if all(name in kwargs for name in names):
            args = tuple(kwargs.pop(name) for name in names)
    elif args and kwargs_spec.num_children and len(args) == args_spec.num_children + kwargs_spec.num_children:
        count = args_spec.num_children
        args, kwargs = args[:count], dict(zip(kwargs_spec.context, args[count:]))
    kwargs = {name: kwargs[name] for name in kwargs_spec.context or () if name in kwargs} | kwargs
    spec = pytree.tree_structure((args, kwargs))
    if spec != program.call_spec.in_spec:
        takes = ", ".join(program.graph_signature.user_inputs)
        raise UserError(f"{what} do not fit the exported program, which takes {takes}")
    return args, kwargs


def _tensors(model: Model, args: Args, kwargs: dict[str, Any], what: str) -> tuple[list[torch.Tensor], list[str]]:
    """Returns the tensors in the arguments and their names."""
    signature = signature_of(model)
    parameters = list(signature.parameters.values()) if signature else []
    tensors, names = [], []
    for path, leaf in pytree.tree_flatten_with_path((args, kwargs))[0]:
        if is_fixed(leaf):
            continue
        tensors.append(_checked(leaf, f"{what} {_position(path)}"))
        names.append(_name(path, parameters))
    if isinstance(model, ExportedProgram):
        placeholders = list(model.graph_signature.user_inputs)
        names = placeholders if len(placeholders) == len(names) else names
    return tensors, names


def is_fixed(leaf: Any) -> bool:
    """Returns whether torch.export makes the program for this value, instead of giving it an input."""
    return leaf is None or isinstance(leaf, (bool, int, float, str))


def keys_of(path: tuple[Any, ...]) -> list[Any]:
    """Returns the indices, keys and names that lead to a leaf of a structure."""
    return [getattr(key, "idx", getattr(key, "key", getattr(key, "name", key))) for key in path]


def _position(path: tuple[Any, ...]) -> str:
    """Returns the position of a tensor among the arguments, for messages: 0, or 1[2], or a name."""
    _, first, *rest = keys_of(path)
    return f"{first}{''.join(f'[{key!r}]' for key in rest)}"


def _name(path: tuple[Any, ...], parameters: list[inspect.Parameter]) -> str:
    """Returns the name that torch.export gives the placeholder."""
    _, first, *rest = keys_of(path)
    name = first
    if isinstance(first, int):
        variadic = [i for i, p in enumerate(parameters) if p.kind is inspect.Parameter.VAR_POSITIONAL]
        if variadic and first >= variadic[0]:
            name, rest = parameters[variadic[0]].name, [first - variadic[0], *rest]
        else:
            name = parameters[first].name if first < len(parameters) else f"input{first}"
    return "_".join(map(str, (name, *rest)))


# Integers may be indices, and booleans masks; the partitioner says so of those that are none.
_TYPES = ("float32", "int64", "int32", "bool")


def _checked(item: Any, what: str) -> torch.Tensor:
    """Returns a copy of a tensor of floats, booleans or indices. Refuses values that PyTorch would silently convert, or
    fail on later.

    It is a copy because torch.export treats a tensor that is passed twice as one input, and because models may
    write into their inputs.
    """
    if isinstance(item, np.ndarray):
        if item.dtype.name not in _TYPES:
            raise _wrong_type(what, item.dtype.name, ".astype('float32')", ".astype('int64')")
        return torch.from_numpy(np.array(item))
    if not isinstance(item, torch.Tensor):
        raise UserError(f"{what} is {_kind(item)}, not a tensor; arguments are {_STRUCTURES}")
    if _dtype(item) not in _TYPES:
        raise _wrong_type(what, _dtype(item), ".float()", ".long()")
    if item.layout != torch.strided or item.device.type != "cpu":
        raise UserError(f"{what} is a {item.layout} tensor on {item.device}; give a dense one on the CPU")
    return item.detach().clone()


def _checked_like(item: Any, example: torch.Tensor, what: str) -> torch.Tensor:
    """The same, of the type of `example`."""
    checked = _checked(item, what)
    if checked.dtype != example.dtype:
        raise UserError(f"{what} is {_dtype(checked)}, and the example input {_dtype(example)}: convert one of them")
    return checked


def _wrong_type(what: str, dtype: str, to_float: str, to_index: str) -> UserError:
    return UserError(
        f"{what} is {dtype}; models are compiled for float32 inputs, int64 or int32 for indices, and bool: convert it "
        f"with {to_float}, or {to_index} if it is an index"
    )


def _kind(item: Any) -> str:
    return "None" if item is None else type(item).__name__


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _outline(item: Any) -> str:
    """Returns the structure of arguments, for messages."""
    if isinstance(item, (torch.Tensor, np.ndarray)):
        return "tensor"
    if isinstance(item, Mapping):
        return "{" + ", ".join(f"{key}: {_outline(value)}" for key, value in item.items()) + "}"
    if isinstance(item, (tuple, list)):
        inner = ", ".join(map(_outline, item))
        return f"[{inner}]" if isinstance(item, list) else f"({inner})"
    return _kind(item)


def make_flat(module: GraphModule) -> list[str]:
    """Changes the module of an exported program: it takes the tensors of `Inputs.tensors` and returns a
    tuple of tensors. Notes about results that are no tensors and so are left out. UserError if nothing
    remains."""
    exported: Any = module
    exported.validate_inputs = False  # that knows the old structure
    graph, notes, kept = module.graph, [], []
    for node in graph.nodes:
        if node.op == "placeholder" and not isinstance(node.meta.get("val"), torch.Tensor):
            graph.erase_node(node)  # torch.export has put the value in where it is read
    output = graph.output_node()
    for index, result in enumerate(pytree.tree_leaves(output.args[0])):
        if isinstance(result, Node) and result.target is torch.ops.aten.copy_.default:
            # torch.export returns a state as what it writes to the state, and says nothing about that node.
            written: Any = result.args[1]
            result.meta.setdefault("val", written.meta["val"].clone())
        if isinstance(result, Node) and isinstance(result.meta.get("val"), torch.Tensor):
            kept.append(result)
        elif result is not None:
            notes.append(f"output {index} is the constant {result!r}: it is left out of the compiled model")
        else:
            notes.append(f"output {index} is None: it is left out of the compiled model")
    if not kept:
        raise UserError("forward returns no tensor: return what the model computes")
    output.args = (tuple(kept),)
    graph.set_codegen(CodeGen())
    module.recompile()
    return notes
