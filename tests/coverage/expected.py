"""What the surveys may find to be wrong, and why: written by hand.

The tests compare the reports with it, in both directions: whatever else is not one call, or further from PyTorch than
one step, is a defect, and so is an entry that is no longer needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Far(NamedTuple):
    """Of a case whose outputs are further than one step from PyTorch's: the most `steps` that they may be, and the
    reason."""

    steps: int
    reason: str


_STEPS_ADD_UP = "a step of difference in one result becomes more in the function after it, whose scale is finer"
_RECURRENT = "a recurrent layer reads what it has written: a step of difference grows with the length of the sequence"
_TWO_AVERAGES = "the average of height and width is rounded, and then that of the depth"
_BROKEN = "PyTorch refuses the module, too"
_INDICES = "it returns the indices of the maxima, which no kernel computes"
_NO_KERNEL = "there is no kernel for the operator"
_NO_WORK = "it only changes shapes or puts tensors side by side, which needs no kernel"
_NOT_FINITE = "some of its inputs are infinite or NaN, which cannot be quantized"

# Of ExecuTorch's Cortex-M backend, by case.
MCU_OUTSIDE: Mapping[str, str] = {
    "conv/conv1d": _BROKEN,
    "max_pool2d/maxpool_2x2_indices": _INDICES,
    "pad/pad_zero_padding": "it pads by nothing, so there is nothing to compute",
}
MCU_FAR: Mapping[str, Far] = {
    "activation/conv2d_hardswish": Far(2, _STEPS_ADD_UP),
    "activation_quant/conv_silu_inplace": Far(2, _STEPS_ADD_UP),
    "lstm/lstm_quantizable": Far(6, _RECURRENT),
    "nn_modules/conv_add_relu": Far(2, _STEPS_ADD_UP),
    "nn_modules/hardswish": Far(2, _STEPS_ADD_UP),
}

# Of ExecuTorch's operator suite, by pattern of the case's name: cases with a module that is not one call.
SUITE_OUTSIDE: Mapping[str, str] = {
    "adaptive_maxpool1d/*_return_indices": _INDICES,
    "adaptive_maxpool2d/*_return_indices": _INDICES,
    "adaptive_maxpool3d/*_return_indices": _INDICES,
    "avgpool[12]d/*_padding": _BROKEN,
    "cat/*": _NO_WORK,
    "div/*_floor": _NO_KERNEL,
    "div/*_trunc": _NO_KERNEL,
    "embedding_bag/*": _NO_KERNEL,
    "floor_divide/*": _NO_KERNEL,
    "index_put/*": "its indices are inputs, and not constant",
    "linear/test_linear_batch_sizes": _BROKEN,
    "linear/test_linear_dtype": _BROKEN,
    "linear/test_linear_leading_batch": _BROKEN,
    "linear/test_linear_no_bias*": _BROKEN,
    "maxpool[12]d/*_padding": _BROKEN,
    "mean/test_mean_multi_dim": "it reduces dimensions that are apart in memory",
    "mean/test_mean_output_dtype": "it computes with integers and in double precision",
    "median/*_indices": "an index is chosen from those of all sorted numbers outside of the delegate",
    "median/*_scalar": _NO_WORK,
    "pow/*_edge_cases": "both base and exponent are computed",
    "reshape/*": _NO_WORK,
    "squeeze/*": _NO_WORK,
    "stack/*": _NO_WORK,
    "transpose/*_identity": _NO_WORK,
    "unsqueeze/*": _NO_WORK,
    "view/*": _NO_WORK,
    "*_edge_cases": _NOT_FINITE,
}
SUITE_FAR: Mapping[str, Far] = {
    "adaptive_avgpool3d/test_adaptive_avgpool3d_input_sizes": Far(2, _TWO_AVERAGES),
    "avgpool3d/test_avgpool3d_combinations": Far(2, _TWO_AVERAGES),
} | {
    f"lstm/test_lstm_{name}": Far(6, _RECURRENT)
    for name in (
        "batch_first_false", "batch_sizes", "bidirectional", "dtype", "feature_sizes", "no_bias_dtype", "num_layers",
        "return_hidden_states", "seq_lengths", "with_dropout", "with_initial_states",
    )
}  # fmt: skip
