"""Views of tensors that lie in memory in another order than they did when the model was exported: `fit_views`."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses import FakeTensorMode
from torch.fx import GraphModule, Interpreter

aten = torch.ops.aten


def fit_views(model: GraphModule) -> None:
    """Turns each `view` that its source has no strides for, after a rewrite of `model`, into a `reshape`, and all of
    them if the model has shapes that depend on values, so that it cannot be run without data."""
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True) as mode:
        try:
            _Layouts(model, mode).run()
        except Exception:  # such as DynamicOutputShapeException; a reshape computes what a view does
            for node in model.graph.find_nodes(op="call_function", target=aten.view.default):
                node.target = aten.reshape.default
    model.recompile()


class _Layouts(Interpreter):
    """Finds the strides of all values, without data, and fits views on the way."""

    def __init__(self, model: GraphModule, mode: FakeTensorMode) -> None:
        super().__init__(model)
        self._mode = mode

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        node = next(node for node in self.graph.find_nodes(op="placeholder") if node.target == target)
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return value
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        held = super().get_attr(target, args, kwargs)
        return self._mode.from_tensor(held) if isinstance(held, torch.Tensor) else held  # a branch of torch.cond

    def run_node(self, n: torch.fx.Node) -> Any:
        if n.target is not aten.view.default:
            return super().run_node(n)
        try:
            return super().run_node(n)
        except (RuntimeError, ValueError):
            n.target = aten.reshape.default
            return super().run_node(n)
