"""The comments of assembly still say what loops.py counts: a loop that takes fewer instructions changes floors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[1] / "runtime/kernels"
COMMENTS = {
    "common/pair_products_scalar.S": (
        "114 instructions for 8 inputs of two windows and four channels, 64 products; then 57 for the eight results",
        "for 8 inputs of two windows and four channels, 64 products: 196 instructions",
    ),
    "common/row_products_scalar.S": (
        "70 instructions for 4 inputs and 8 channels, 32 products",
        "72 instructions for 4 inputs and 4 channels, 16 products",
    ),
    "depthwise_conv2d/channel_rows_scalar.S": (
        "13 instructions with stride 1, and 3 for each four; 18 with stride 2; then 15 for two results",
        "On Armv6-M: 41 with stride 1, and 3 for each two; 47 with stride 2",
    ),
    "common/pair_products_dsp.S": (
        "With weights of two channels in 16 bits, 51 instead of 63, and then 57",
        "28 for each of its sixteens",
    ),
    "conv2d/winograd_dsp.S": ("47 instructions for 8 inputs of two tiles and four channels, 64 products",),
    "common/channel_planes_dsp.S": ("54 instructions with stride 1 and form FLOOR", "with stride 2, 6 more"),
    "common/fill_planes_dsp.h": ("18 instructions for two pixels of four channels",),
    "common/row_products_dsp.S": ("10 a result with form FLOOR", "two channels in 16 bits, 65, and 8 for a block"),
    "add/add_linear_dsp.S": ("24 instructions for 4 elements",),
    "common/vector_products_mve.S": (
        "for two channels of four windows of V <= 8 vectors: 14 V + 22 instructions with form LEAST",
        "Of more vectors: 14 more each, 2 for each four of them and 10 once",
        "more, 3 for each 16 bytes",
        "14 instructions a window of three lines",
    ),
    "depthwise_conv2d/window_vectors_mve.S": (
        "for the eight outputs of a group: 30 instructions with form LEAST",
        "14 instructions a column",
    ),
    "depthwise_conv2d/channel_vectors_mve.S": (
        "for 8 channels of two outputs, 144 products: 132 instructions with stride 1",
        "with stride 2, 138",
    ),
    "fully_connected/row_vectors_mve.S": ("19 V + 32 instructions, one more of int8",),
    "add/add_linear_mve.S": ("33 instructions for 16 elements",),
}


@pytest.mark.parametrize("name", COMMENTS)
def test_a_loop_takes_what_is_counted(name):
    text = " ".join(re.sub(r"(?m)^\s*//", " ", (KERNELS / name).read_text(encoding="utf-8")).split())
    gone = [phrase for phrase in COMMENTS[name] if phrase not in text]
    assert not gone, "count anew in benchmarks/loops.py, and write here what the comment says"
