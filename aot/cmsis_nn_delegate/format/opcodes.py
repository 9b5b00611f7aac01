"""The numbers of kernels in payloads.

A number never changes its meaning and is never used again: payloads are in the field. `bazel run //:generate`
adds the next one here for a kernel that an operator declares and that has none.
"""

from __future__ import annotations

import enum


class Opcode(enum.IntEnum):
    """Kernels. 0 is never valid; the order is ABI."""

    CONV2D = 1
    DEPTHWISE_CONV2D = 2
    FULLY_CONNECTED = 3
    ADD = 4
    AVG_POOL2D = 5
    MAX_POOL2D = 6
    SOFTMAX = 7
    QUANTIZE = 8
    DEQUANTIZE = 9
    TRANSPOSE = 10
    FULLY_CONNECTED_PER_TENSOR = 11
    MUL = 12
    STRIDED_COPY = 13
    NORMALIZE = 14
    ADD_BROADCAST = 15
    MUL_BROADCAST = 16
    LOOKUP = 17
    LOG_SOFTMAX = 18
    SOFTMAX_LONG = 19
    PAD_ND = 20
    TRANSPOSE_CONV2D = 21
    TRANSPOSE_CONV2D_ANY = 22
    REDUCE_SUM = 23
    BATCH_MATMUL = 24
    MINIMUM = 25
    MAXIMUM = 26
    DIV = 27
    REDUCE_MAX = 28
    REDUCE_MIN = 29
    ADAPTIVE_AVG_POOL2D = 30
    MAX_POOL2D_DILATED = 31
    PRELU = 32
    MASKED_SOFTMAX = 33
    RESIZE_BILINEAR = 34
    RESIZE_NEAREST = 35
    ARGMAX = 36
    ARGMIN = 37
    EMBEDDING = 38
    EMBEDDING_INT32 = 39
    CONV2D_LARGE = 40
    CONV2D_PAIRS = 41
    FULLY_CONNECTED_PAIRS = 42
    DEPTHWISE_CONV2D_PLANES = 43
    ADD_LINEAR = 44
    CONV2D_VECTORS = 45
    DEPTHWISE_CONV2D_VECTORS = 46
    CONV2D_WINOGRAD = 47
    DEPTHWISE_CONV2D_ROWS = 48
    GRU = 49
    LSTM = 50
    RNN = 51
    GRU_PAIRS = 52
    LSTM_PAIRS = 53
    GRU_VECTORS = 54
    LSTM_VECTORS = 55
    DEQUANTIZE_INT16 = 56
    KEEP = 57
    QUANTIZE_INT16 = 58
    RECALL = 59
    DELAY_LINE_READ = 60
    DELAY_LINE_WRITE = 61
    GRU_LENGTHS = 62
    LAST_STEP = 63
    LSTM_LENGTHS = 64
    RNN_LENGTHS = 65
    GRU_LENGTHS_PAIRS = 66
    GRU_LENGTHS_VECTORS = 67
    LSTM_LENGTHS_PAIRS = 68
    LSTM_LENGTHS_VECTORS = 69
    LSTM_PROJECTED = 70
    LSTM_PROJECTED_LENGTHS = 71
