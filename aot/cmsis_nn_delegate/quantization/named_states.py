"""Inputs that a model keeps itself from one inference to the next: `NamedStates`.

`forward(x, h)` that returns `(y, h2)` leaves it to its caller to give it h2 as the h of the next call. Compiled with
`state={"h": 1}` it takes x alone and returns y alone: h is a buffer of the model, which begins with what the example
inputs have for it, and is output 1 of the inference before from then on.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ..support.errors import UserError, require_known
from .interface import Arguments, Inputs, Model, is_fixed, keys_of, signature_of

# New values by the names of inputs: outputs by number, or by name where forward returns a dict.
StateNames = Mapping[str, Union[str, int]]

_GONE = object()  # the place of a structure in which only states were


@dataclass(frozen=True)
class _State:
    name: str  # of the input
    output: str  # of the new value
    position: int  # among the leaves of forward's arguments
    initial: torch.Tensor


class NamedStates:
    """`inputs` are those that remain."""

    def __init__(self, model: Model, examples: Arguments, state: StateNames) -> None:
        """UserError if `state` names what is no input, or leaves none over."""
        if isinstance(model, ExportedProgram):
            raise UserError(
                "the model is an exported program, whose inputs stay what they are: give the torch.nn.Module that it "
                f"was exported from, to which {', '.join(state)} can be added as a state, or export a module that "
                "writes its state to a buffer"
            )
        whole = Inputs.of(model, examples)
        for name in state:
            require_known(name, whole.names, "input in `state`:")
        leaves, self._spec = pytree.tree_flatten((whole.args, whole.kwargs))
        places = [position for position, leaf in enumerate(leaves) if not is_fixed(leaf)]
        self._states = [
            _State(name, str(state[name]), position, leaves[position])
            for name, position in zip(whole.names, places)
            if name in state
        ]
        if len(self._states) == len(whole.names):
            raise UserError(f"all inputs of the model are states, {', '.join(whole.names)}: one has to remain an input")
        args, kwargs, self._signature = self._without_states(model, whole)
        self.inputs = Inputs.of(_Stub(self._signature), args if not kwargs else self._by_name(args, kwargs))

    def _without_states(self, model: Model, whole: Inputs) -> tuple[tuple[Any, ...], dict[str, Any], inspect.Signature]:
        """Returns the arguments that remain, and what forward then takes."""
        paths = [tuple(keys_of(path)) for path, _ in pytree.tree_flatten_with_path((whole.args, whole.kwargs))[0]]
        states = {paths[state.position] for state in self._states}
        by_position = [_remaining(item, (0, index), states) for index, item in enumerate(whole.args)]
        by_name = {name: _remaining(item, (1, name), states) for name, item in whole.kwargs.items()}
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        signature = signature_of(model)
        if signature is None:
            parameters = [inspect.Parameter(name, kind) for name, kind in zip(("args", "kwargs"), variadic)]
            signature = inspect.Signature(parameters)
        gone = {
            name
            for item, (name, parameter) in zip(by_position, signature.parameters.items())
            if item is _GONE and parameter.kind not in variadic
        } | {name for name, item in by_name.items() if item is _GONE}
        return (
            tuple(item for item in by_position if item is not _GONE),
            {name: item for name, item in by_name.items() if item is not _GONE},
            signature.replace(parameters=[p for p in signature.parameters.values() if p.name not in gone]),
        )

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return {**dict(zip(self._signature.parameters, args)), **kwargs}

    def hold(self, model: torch.nn.Module) -> None:
        """Makes `model` keep the states, as it is then exported. UserError, which is raised when it is called, if it
        returns no fitting new values."""
        buffers = [_register(model, state) for state in self._states]
        positions = {state.position: name for state, name in zip(self._states, buffers)}
        original: Callable[..., Any] = model.forward

        def forward(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
            given = iter(pytree.tree_leaves((args, kwargs)))
            held = [getattr(model, name) for name in buffers]
            leaves = [
                getattr(model, positions[index]) if index in positions else next(given)
                for index in range(self._spec.num_leaves)
            ]
            args, kwargs = pytree.tree_unflatten(leaves, self._spec)
            written, returned = self._split(original(*args, **kwargs))
            # What is returned of a state is its old value, which is about to be overwritten.
            memories = {_memory(state) for state in held}
            returned = tuple(
                leaf.clone() if isinstance(leaf, torch.Tensor) and _memory(leaf) in memories else leaf
                for leaf in returned
            )
            _write(held, written)
            return returned

        setattr(forward, "__signature__", self._signature)  # noqa: B010  mypy takes no assignment
        setattr(model, "forward", forward)  # noqa: B010  the class, and so the names of modules, stay as they are

    def _split(self, result: Any) -> tuple[list[torch.Tensor], tuple[Any, ...]]:
        """Returns the new values of the states, and the other results."""
        outputs = [(tuple(keys_of(path)), leaf) for path, leaf in pytree.tree_flatten_with_path(result)[0]]
        names = [_output_name(path, index) for index, (path, _) in enumerate(outputs)]
        taken: dict[int, _State] = {}
        known = {str(index): index for index in range(len(names))} | {name: i for i, name in enumerate(names)}
        values = []
        for state in self._states:
            if state.output not in known:
                raise UserError(
                    f"state {state.name}: the model has no output {state.output!r}; give one of those that it has: "
                    f"{_listed(names, outputs)}"
                )
            index = known[state.output]
            if index in taken:
                raise UserError(
                    f"output {names[index]} is given as the new value of both {taken[index].name} and {state.name}: "
                    f"each state needs one of its own; the model returns {_listed(names, outputs)}"
                )
            taken[index] = state
            value = outputs[index][1]
            if _type(value) != _type(state.initial):
                raise UserError(
                    f"state {state.name} is {_type(state.initial)}, and output {names[index]}, its new value, "
                    f"{_type(value)}: both must be of one shape and type; the model returns {_listed(names, outputs)}"
                )
            values.append(value)
        returned = tuple(leaf for index, (_, leaf) in enumerate(outputs) if index not in taken)
        if not any(isinstance(leaf, torch.Tensor) for leaf in returned):
            raise UserError(
                "the model returns new values of its states alone, which the compiled model keeps: return what it is "
                "to compute besides them, or a state twice if that is its result"
            )
        return values, returned


class _Stub(torch.nn.Module):
    """Takes what a model takes without its states."""

    def __init__(self, signature: inspect.Signature) -> None:
        super().__init__()

        def forward(*args: Any, **kwargs: Any) -> None:
            raise AssertionError("only its signature is used")

        setattr(forward, "__signature__", signature)  # noqa: B010  mypy takes no assignment
        setattr(self, "forward", forward)  # noqa: B010


def _remaining(item: Any, path: tuple[Any, ...], states: Collection[tuple[Any, ...]]) -> Any:
    """Returns a structure without the leaves at `states`, and `_GONE` if it had no others."""
    if path in states:
        return _GONE
    if all(state[: len(path)] != path for state in states):
        return item
    if type(item) in (dict, OrderedDict):
        by_key = {key: _remaining(value, (*path, key), states) for key, value in item.items()}
        kept = [(key, value) for key, value in by_key.items() if value is not _GONE]
        return type(item)(kept) if kept else _GONE
    if type(item) in (tuple, list):
        items = [_remaining(value, (*path, index), states) for index, value in enumerate(item)]
        kept_items = [value for value in items if value is not _GONE]
        return type(item)(kept_items) if kept_items else _GONE
    leaves = [path + tuple(keys_of(rest)) for rest, _ in pytree.tree_flatten_with_path(item)[0]]
    if all(leaf in states for leaf in leaves):
        return _GONE
    raise UserError(f"of a {type(item).__name__} in the inputs, either all tensors or none can be states")


def _register(model: torch.nn.Module, state: _State) -> str:
    """Adds a buffer, and returns its name."""
    name = state.name
    while hasattr(model, name):
        name += "_state"
    model.register_buffer(name, state.initial.clone())
    return name


def _write(states: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Writes all states. The new value of one may be the old value of another, as where the last two inputs are kept:
    then the former is written first. A copy is made only if each waits for the other."""
    pending = list(zip(states, values))
    while pending:
        for index, (state, _) in enumerate(pending):
            others = pending[:index] + pending[index + 1 :]
            if not any(_memory(value) == _memory(state) for _, value in others):
                break
        else:
            index = 0
            pending = [(state, value.clone()) for state, value in pending]
        state, value = pending.pop(index)
        state.copy_(value)


def _memory(tensor: torch.Tensor) -> Any:
    """Returns what identifies the memory of a tensor."""
    return tensor.untyped_storage()._cdata


def _output_name(path: tuple[Any, ...], index: int) -> str:
    """Returns the keys that lead to an output where forward returns a dict or the like, otherwise its number."""
    return "_".join(map(str, path)) if path and isinstance(path[0], str) else str(index)


def _type(value: Any) -> str:
    """Returns an element type and shape, for messages."""
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def _listed(names: Sequence[str], outputs: Sequence[tuple[Any, Any]]) -> str:
    return ", ".join(f"{name} ({_type(leaf)})" for name, (_, leaf) in zip(names, outputs)) or "nothing"
