"""Lets torch.export take recurrent layers of many steps in no time.

PyTorch computes each step of a recurrent layer to find the shape of its results: 1,000 steps of a GRU take seconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Union

import torch
from torch._subclasses import FakeTensor

_aten = torch.ops.aten
_LAYERS = (_aten.lstm.input, _aten.gru.input, _aten.rnn_tanh.input, _aten.rnn_relu.input)
_KEYS = (torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeImplicitAutograd)


@contextlib.contextmanager
def layers_by_shape() -> Iterator[None]:
    """Inside this context, recurrent layers of tensors without data have results of the right shape, and nothing is
    computed."""
    before = {(op, key): op.py_kernels[key] for op in _LAYERS for key in _KEYS if key in op.py_kernels}
    for (op, key), kernel in before.items():
        op.py_kernels[key] = _by_shape(kernel)
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for (op, key), kernel in before.items():
            op.py_kernels[key] = kernel
            op._dispatch_cache.clear()


def _by_shape(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def layer(x: torch.Tensor, states: Union[torch.Tensor, list[torch.Tensor]], *rest: Any) -> Any:
        if not isinstance(x, FakeTensor):
            return kernel(x, states, *rest)
        last = [states] if isinstance(states, torch.Tensor) else list(states)
        bidirectional = rest[5]
        hidden = last[0].shape[2] * (2 if bidirectional else 1)
        return x.new_empty((*x.shape[:2], hidden)), *(state.new_empty(state.shape) for state in last)

    return layer
