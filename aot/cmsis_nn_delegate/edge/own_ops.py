"""Declares PyTorch operators of our own, `torch.ops.cmsis_nn_delegate.*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

NAMESPACE = "cmsis_nn_delegate"
LIBRARY: Any = torch.library.Library(NAMESPACE, "DEF")  # type: ignore[no-untyped-call]  # torch's


def define(
    name: str,
    arguments: str,
    compute: Callable[..., torch.Tensor],
    shape: Callable[..., torch.Tensor],
    *,
    outside: bool = False,
) -> Any:
    """Declares an operator with one result, and returns it. `arguments` are those of its schema. Tracing sees only
    `shape`, which returns a tensor like the result from the same arguments. `outside`: programs may call it outside of
    the delegate, for which ExecuTorch asks for a variant that writes to `out`."""
    LIBRARY.define(f"{name}({arguments}) -> Tensor")
    LIBRARY.impl(name, compute, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{NAMESPACE}::{name}", shape, lib=LIBRARY)
    if outside:
        LIBRARY.define(f"{name}.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)")
        LIBRARY.impl(f"{name}.out", lambda *given, out: out.copy_(compute(*given)), "CompositeExplicitAutograd")
    return getattr(getattr(torch.ops, NAMESPACE), name).default


def give_gradients(name: str, backward: Callable[..., Any], save: Callable[..., None]) -> None:
    """Registers the gradients of an operator: `save` keeps what `backward` needs of its inputs."""
    torch.library.register_autograd(f"{NAMESPACE}::{name}", backward, setup_context=save, lib=LIBRARY)
