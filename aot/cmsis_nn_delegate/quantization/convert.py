"""Converts a calibrated or trained model to a quantized one, without torchao's search for batch norms.

`convert_pt2e` folds the patterns that `prepare_qat_pt2e` makes of convolutions with batch norms. If a batch norm is
left in a model, it searches for them with 96 patterns that it exports first, which takes 20 seconds. A model that was
prepared by `prepare_pt2e` has no such patterns: its batch norms are folded already, or stay as they are.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.ao.quantization.fx.utils
import torchao.utils
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e

from ..support.checked import checked
from ..support.isolation import isolated
from .in_place import compute_late, written_buffers
from .rewriting import evaluated
from .sum_scales import coarsen_sums
from .trained_batch_norms import fold_batch_norms
from .weight_scales import make_room_for_sums

aten = torch.ops.aten


def convert_calibrated(prepared: GraphModule) -> GraphModule:
    """Returns the result of `convert_pt2e` for `prepared`, which it changes, without the float weights.

    Results of `prepare_qat_pt2e` are for `convert_trained`.
    """
    coarsen_sums(prepared)
    make_room_for_sums(prepared)
    _rename(prepared, _HIDDEN)
    # torchao runs what is computed of buffers alone to fold it, writes such as `count.add_(1)` too.
    state = {name: buffer.clone() for name, buffer in written_buffers(prepared).items()}
    with torch.no_grad():
        converted = _rename(convert_pt2e(prepared), {hidden: norm for norm, hidden in _HIDDEN.items()})
        for name, buffer in written_buffers(converted).items():
            buffer.copy_(state[name])
    _drop_unread(converted)
    compute_late(converted.graph)
    converted.recompile()
    _forget_modules()
    return converted


def _forget_modules() -> None:
    """Lets go of the modules that PyTorch and torchao have seen: both remember the device of each one, and with it the
    module and its weights, until the process ends."""
    for library in (torch.ao.quantization.fx.utils, torchao.utils):
        for name in ("assert_and_get_unique_device", "_assert_and_get_unique_device"):
            clear = getattr(getattr(library, name, None), "cache_clear", None)
            if clear is not None:
                clear()


def _drop_unread(model: GraphModule) -> None:
    """Removes parameters and buffers that the graph does not read: the float weights that others were made of."""
    read = {str(node.target) for node in model.graph.nodes if node.op == "get_attr"}
    unread = [name for name, _ in (*model.named_parameters(), *model.named_buffers()) if name not in read]
    for name in unread:
        path, _, attribute = name.rpartition(".")
        delattr(model.get_submodule(path), attribute)


@checked()
@isolated()
def convert_trained(prepared: GraphModule) -> GraphModule:
    """Returns the quantized module of one that was prepared by `prepare_qat_pt2e`, trained, and moved to evaluation by
    torchao's `move_exported_model_to_eval`; it changes `prepared`.

    It computes the numbers of `prepared` in evaluation; `convert_pt2e` does too, but takes 20 seconds longer.
    """
    _observe_weights(prepared)
    fold_batch_norms(prepared)
    return convert_calibrated(prepared)


def _observe_weights(prepared: GraphModule) -> None:
    """Shows the weights after the last step of training to their observers."""
    for node in prepared.graph.nodes:
        if node.op == "call_module":
            value = evaluated(prepared, node.args[0])
            if value is not None and value.is_floating_point():
                with torch.no_grad():
                    prepared.get_submodule(str(node.target))(value)


def _batch_norm(*args: Any) -> Any:
    return aten.batch_norm.default(*args)


def _native_batch_norm(*args: Any) -> Any:
    return aten._native_batch_norm_legit_no_training.default(*args)


# Functions by which torchao does not know a batch norm.
_HIDDEN = {
    aten.batch_norm.default: _batch_norm,
    aten._native_batch_norm_legit_no_training.default: _native_batch_norm,
}


def _rename(model: GraphModule, targets: dict[Any, Any]) -> GraphModule:
    for node in model.graph.nodes:
        if node.op == "call_function" and node.target in targets:
            node.target = targets[node.target]
    model.recompile()
    return model
