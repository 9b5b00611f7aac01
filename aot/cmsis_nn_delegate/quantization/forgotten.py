"""Finds what a model remembers in attributes that are no buffers, which torch.export does not record: the program would
compute each inference as if it were the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ..support.errors import UserError
from .private_copy import runnable_copy

_PLAIN = (bool, int, float, str, type(None))
_OF_MODULES = frozenset(vars(torch.nn.Module()))
_TOLERANCE = 1e-3  # of an output's range


def require_recorded(
    module: torch.nn.Module, program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """UserError names attributes that `forward` sets, if a second inference of `program`, which was exported from a
    module like `module`, ignores them. `module` is run. Attributes that nothing reads again, such as those that keep a
    result to look at, are allowed."""
    module.eval()
    before = dict(_attributes(module))
    with torch.no_grad():
        try:
            first = _run(module, args, kwargs)
            changed = [name for name, value in _attributes(module) if _differs(before.get(name), value)]
            if not changed:
                return
            second = _run(module, args, kwargs)
        except Exception:  # of the model; whatever it is shows later, with what it is about
            return
        if _agrees(program, first, second, args, kwargs):
            return
    names = " and ".join(dict.fromkeys(name.partition("[")[0] for name in changed))
    raise UserError(
        f"forward sets {names}, and reads it in the next inference, but torch.export records what is written to "
        "buffers alone, so that the program would forget it: hold a tensor of a fixed shape, "
        "self.register_buffer('state', torch.zeros(...)) in __init__, and write to it with self.state.copy_(...)"
    )


def _agrees(
    program: ExportedProgram,
    first: list[torch.Tensor],
    second: list[torch.Tensor],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> bool:
    """Returns whether two inferences of `program` give these results, or differ in the first already, which is not
    about what the second one remembers."""
    exported = runnable_copy(program.module(check_guards=False))
    try:
        return not _same(first, _run(exported, args, kwargs)) or _same(second, _run(exported, args, kwargs))
    except RuntimeError:  # it reads what was there while it was exported
        return False


def _attributes(module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Yields what the attributes of modules hold, with that of lists and dicts one by one, and buffers that are None at
    first or have become another tensor."""
    for path, part in module.named_modules():
        held = {name: value for name, value in vars(part).items() if name not in _OF_MODULES}
        for name, value in {**held, **part._buffers}.items():
            for key, leaf in pytree.tree_leaves_with_path(value):
                yield f"self.{path}{'.' if path else ''}{name}{pytree.keystr(key)}", leaf


def _differs(before: Any, after: Any) -> bool:
    if isinstance(after, torch.Tensor):
        return after is not before
    return isinstance(after, _PLAIN) and (type(before) is not type(after) or before != after)


def _run(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    copies = pytree.tree_map_only(torch.Tensor, torch.clone, (args, dict(kwargs)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        results = module(*copies[0], **copies[1])
    return [x.detach().clone() for x in pytree.tree_leaves(results) if isinstance(x, torch.Tensor)]


def _same(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(_close(x.double(), y.double()) for x, y in zip(a, b))


def _close(x: torch.Tensor, y: torch.Tensor) -> bool:
    if x.shape != y.shape:
        return False
    range_of = float(x.nan_to_num().abs().max()) if x.numel() else 0.0
    return torch.allclose(x, y, rtol=0.0, atol=_TOLERANCE * range_of, equal_nan=True)
