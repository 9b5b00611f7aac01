"""Why CMSIS-NN has no usable function for some kernels of operators, for reports and docs/operators.md."""

from __future__ import annotations

from collections.abc import Mapping

from ...ops.cmsis_nn_rules import MAX_SIZE, MAX_SOFTMAX_ROW
from ...ops.recurrent import FORMATS, LENGTHS

_INDEX = "CMSIS-NN finds no index"
_ROWS = "CMSIS-NN has no look-up of rows; they go through memcpy"
_STATE = "CMSIS-NN knows no states between inferences"
_LENGTHS = "CMSIS-NN knows no sequences of different lengths"
_PROJECTION = "CMSIS-NN's LSTM has no projection"
_SORT = "CMSIS-NN does not sort"
_EXTREMUM = "CMSIS-NN reduces images over height and width alone, for which max_pool2d calls it"
_SUM = "CMSIS-NN has no sum over a dimension"
_WIDE_EXTREMUM = "CMSIS-NN's maximum and minimum of two tensors are of int8"
_WIDE_NIBBLES = "CMSIS-NN multiplies weights of 4 bits with int8 alone"
_NIBBLE_LSTM = "the weights of CMSIS-NN's LSTM have 8 bits"
_FLOAT = "CMSIS-NN computes with integers"
_COPY = "CMSIS-NN has no copy between two strided tensors; rows that lie together go through memcpy"
_NORM = "CMSIS-NN has no normalization of activations"
_BILINEAR = "CMSIS-NN does not interpolate"
_NEAREST = "CMSIS-NN does not resample"
_DIVISION = "CMSIS-NN has no division of activations"
_PRELU = "CMSIS-NN has no PReLU"
_SOUND = "CMSIS-NN has no features of sound"
_RESCALE = "CMSIS-NN has no conversion between two formats"

# Of recurrent layers, by the kernel for int8.
_LAYERS = {
    "gru": "CMSIS-NN has no GRU",
    "lstm_projected": _PROJECTION,
    "rnn": "CMSIS-NN has no simple recurrent layer",
}
_LSTM_INT16 = (
    "arm_nn_lstm_step_s16 adds in 64 bits, which takes longer, and rounds the factors of sums to 16 bits, which is "
    "less exact"
)

# By kernel.
WHY_LACKING: Mapping[str, str] = {
    **{
        kind.named(f"{layer}{suffix}"): why
        for layer, why in _LAYERS.items()
        for suffix in ("", f"_{LENGTHS}")
        for kind in FORMATS
    },
    "lstm_int16": _LSTM_INT16,
    "lstm_lengths_int16": _LSTM_INT16,
    "lstm_int4": _NIBBLE_LSTM,
    "lstm_lengths_int4": _NIBBLE_LSTM,
    "lstm_int4_int16": _NIBBLE_LSTM,
    "lstm_lengths_int4_int16": _NIBBLE_LSTM,
    "adaptive_avg_pool2d": "the windows of arm_avgpool_s8 are all alike",
    "adaptive_avg_pool2d_int16": "the windows of arm_avgpool_s16 are all alike",
    "argmax": _INDEX,
    "argmax_float32": _FLOAT,
    "argmax_int16": _INDEX,
    "argmin": _INDEX,
    "argmin_float32": _FLOAT,
    "argmin_int16": _INDEX,
    "conv2d_float32": _FLOAT,
    "conv2d_int4_int16": _WIDE_NIBBLES,
    "conv2d_large": f"arm_convolve_s8 keeps sizes in 16 bits, at most {MAX_SIZE}, also the number of weights of a "
    "filter",
    "conv2d_wide_large_int16": "arm_convolve_s16 knows no groups, and adds the first 512 products in 32 bits",
    "conv2d_large_int16": "arm_convolve_s16 knows no groups, and counts the elements of a filter in 16 bits",
    "delay_line_read": _STATE,
    "delay_line_write": _STATE,
    "dequantize": "CMSIS-NN gives no floats",
    "div": _DIVISION,
    "div_int16": _DIVISION,
    "camera_image": "CMSIS-NN takes no pixels of a camera",
    "ctc_greedy": _INDEX,
    "ctc_greedy_int16": _INDEX,
    "embedding": _ROWS,
    "embedding_float32": _ROWS,
    "embedding_int32_float32": _ROWS,
    "embedding_int16": _ROWS,
    "embedding_int32_int16": _ROWS,
    "embedding_int32": _ROWS,
    "embedding_int32_int4": _ROWS,
    "embedding_int4": _ROWS,
    "fully_connected_int4_groups": "CMSIS-NN's linear layers have one scale for each output",
    "dequantize_int16": "CMSIS-NN gives no floats",
    "fully_connected_int4_int16": _WIDE_NIBBLES,
    "function_float32": _FLOAT,
    "keep": _STATE,
    "last_step": _LENGTHS,
    "last_step_int16": _LENGTHS,
    "leaky_sum": _STATE,
    "leaky_sum_lookup": _STATE,
    "linear_float32": _FLOAT,
    "log_mel": _SOUND,
    "log_mel_int16": _SOUND,
    "log_softmax": "CMSIS-NN has no logarithm of softmax",
    "log_softmax_int16": "CMSIS-NN has no logarithm of softmax",
    "lookup": "CMSIS-NN has no look-up of int8 in a table of 256 entries",
    "lookup_int16": "the tables of arm_nn_activation_s16 are of sigmoid and tanh alone, and have half as many entries",
    "masked_softmax": "arm_softmax_s8 has no mask",
    "masked_softmax_int16": "arm_softmax_s16 has no mask",
    "max_pool2d_dilated_int16": "the windows of arm_max_pool_s16 have no gaps",
    "max_pool2d_dilated": "the windows of arm_max_pool_s8 have no gaps",
    "maximum_int16": _WIDE_EXTREMUM,
    "minimum_int16": _WIDE_EXTREMUM,
    "nms": _INDEX,
    "nms_int16": _INDEX,
    "normalize": _NORM,
    "normalize_int16": _NORM,
    "normalize_float32": _FLOAT,
    "pad_nd_int16": "arm_pad_s8 pads bytes",
    "pad_nd_float32": "arm_pad_s8 pads bytes",
    "pad_nd": "arm_pad_s8 pads at most four dimensions with a constant, row by row with memset and memcpy, as the "
    "portable kernel does",
    "pair_float32": _FLOAT,
    "pcen": _SOUND,
    "pcen_int16": _SOUND,
    "prelu": _PRELU,
    "prelu_int16": _PRELU,
    "pool2d_float32": _FLOAT,
    "quantize": "CMSIS-NN takes no floats",
    "quantize_int16": "CMSIS-NN takes no floats",
    "recall": _STATE,
    "reduce_float32": _FLOAT,
    "reduce_max": _EXTREMUM,
    "reduce_max_int16": _EXTREMUM,
    "reduce_min": _EXTREMUM,
    "reduce_min_int16": _EXTREMUM,
    "reduce_sum": _SUM,
    "reduce_sum_int16": _SUM,
    "rescale_int16": _RESCALE,
    "rescale_int16_to_int8": _RESCALE,
    "rescale_int8_to_int16": _RESCALE,
    "resize_bilinear": _BILINEAR,
    "resize_bilinear_int16": _BILINEAR,
    "resize_nearest": _NEAREST,
    "resize_nearest_int16": _NEAREST,
    "selective_state": _STATE,
    "softmax_int16": "arm_softmax_s16 counts all that is 10 and more below the maximum as much, and rounds in 32 bits "
    "what may need 33, where the sum of more than 8 exponentials is just below a power of two",
    "softmax_float32": _FLOAT,
    "softmax_long": "arm_softmax_s8 shifts by more than 31 bits once the sum of exponentials exceeds "
    f"{MAX_SOFTMAX_ROW}",
    "strided_copy": _COPY,
    "strided_copy_float32": _COPY,
    "strided_copy_int16": _COPY,
    "topk_indices": _INDEX,
    "topk_indices_int16": _INDEX,
    "topk_values": _SORT,
    "topk_values_int16": _SORT,
    "transpose_float32": _FLOAT,
    "transpose_int16": "arm_transpose_s16 is not there; arm_transpose_s8 moves bytes",
    "transpose": "arm_transpose_s8 counts in 16 bits what a payload counts in 32, and without MVE computes four "
    "products for every byte that it moves",
    "transpose_conv2d_any_int16": "CMSIS-NN's transposed convolutions are of int8",
    "transpose_conv2d_any": "arm_transpose_conv_s8 knows neither groups nor dilation, and computes only outputs that "
    "end where it expects",
}
