"""What operators compute in a format of numbers without kernels of their own for it, and why some calls, or all, have
none: the second table of docs/operators.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cmsis_nn_delegate.format.element import KERNEL_ELEMENTS, Element
from cmsis_nn_delegate.ops import normalize, recurrent, softmax_int16
from cmsis_nn_delegate.ops.cmsis_nn_rules import MAX_SIZE
from cmsis_nn_delegate.ops.function_table import ENTRIES
from cmsis_nn_delegate.ops.op import Op
from cmsis_nn_delegate.ops.registry import OPS
from codegen import format_table
from codegen.format_table import by_weights

INT8, INT16, FLOAT32 = (element.value for element in (Element.INT8, Element.INT16, Element.FLOAT32))
W4, INT16_W4 = (by_weights(element.value, Element.INT4) for element in KERNEL_ELEMENTS)
_ONLY_FLOAT = (Element.FLOAT32,)
ITSELF = "itself"


class Gap(NamedTuple):
    """Of `operators` in `formats`: who computes at least some calls, operators or `ITSELF`; nobody if there are none.
    `why` says what is left, what becomes of it, and why; "" if nothing is."""

    operators: tuple[str, ...]
    formats: tuple[str, ...]
    by: tuple[str, ...] = ()
    why: str = ""


# How many products may exceed 32 bits, with the largest weights: of int8, and of int16 with weights of 4 bits.
_PRODUCTS = -(-(1 << 31) // (-Element.INT8.low * (Element.INT8.high - Element.INT8.low)))
_W4_PRODUCTS = (1 << 31) // (Element.INT16.low * Element.INT4.low)
_STEPS = ("linear_float32", "pair_float32", "function_float32")
_OUTSIDE = "runs outside: no kernel is written, as `format: float32` is meant for heads and post-processing"
_NOT_LOADED = "ExecuTorch has no kernel either, so that the program cannot be loaded"
_ORDER = "no kernel is written, as what is larger in float is not smaller in int8 or int16, whose kernels compare it"
_LOOKED_UP = (
    f"computes in int8, with a state of 16 bits: a decay that is a function of a number is looked up in a table of "
    f"{ENTRIES} entries, one for each number of int8"
)

GAPS = (
    Gap(
        ("adaptive_avg_pool2d",),
        (FLOAT32,),
        ("pool2d_float32", "reduce_float32"),
        "sizes that do not divide the image's run outside: the windows of pool2d_float32 are all alike",
    ),
    Gap(("add", "div", "mul"), (FLOAT32,), ("pair_float32",)),
    Gap(("arg_extremum",), (FLOAT32,), ("arg_extremum_float32",)),
    Gap(
        ("avg_pool2d",),
        (INT16,),
        (ITSELF,),
        f"windows of more than {MAX_SIZE} numbers compute in int8: they could make CMSIS-NN's sums of 32 bits saturate",
    ),
    Gap(
        ("avg_pool2d",),
        (FLOAT32,),
        ("pool2d_float32", "reduce_float32"),
        "averages with ceil_mode and padding, and those of volumes, run outside: only what is quantized is rewritten "
        "as convolutions",
    ),
    Gap(("batch_matmul", "fully_connected"), (FLOAT32,), ("linear_float32",)),
    Gap(
        ("camera_image",),
        (INT16,),
        (),
        "computes in int8, and the image is then converted: a camera gives at most 8 bits for a color",
    ),
    Gap(
        ("camera_image",),
        (FLOAT32,),
        (),
        f"a frame is integers, which the kernel converts with integers; {_NOT_LOADED}",
    ),
    Gap(("clamp",), (FLOAT32,), ("function_float32",)),
    Gap(
        ("conv2d",),
        (W4,),
        (ITSELF,),
        f"groups, and more than {MAX_SIZE} weights for an output, keep 8 bits: the kernels have the limits of "
        "arm_convolve_s4, which knows no groups and counts in 16 bits; weights have a scale for each output channel, "
        "because groups of inputs with a scale are for linear layers",
    ),
    Gap(
        ("conv2d",),
        (INT16_W4,),
        (ITSELF,),
        "groups keep 8 bits: the kernel, like that for int8, knows none",
    ),
    Gap(("conv2d", "fully_connected"), (INT16,), (ITSELF, "conv2d_wide"), "conv2d_wide where a sum may need 64 bits"),
    Gap(
        ("conv2d",),
        (FLOAT32,),
        ("conv2d_float32",),
        "conv3d runs outside: only what is quantized is rewritten as convolutions of images",
    ),
    Gap(
        ("conv2d_wide",),
        (INT8, W4),
        ("conv2d", "fully_connected"),
        f"layers of int8 whose sums may exceed 32 bits are refused: that takes {_PRODUCTS:,} products or more, or a "
        "bias that is as large",
    ),
    Gap(
        ("conv2d_wide",),
        (INT16_W4,),
        ("conv2d", "fully_connected"),
        f"where a sum may need 64 bits, weights of 4 bits take 8, with a note: that takes {_W4_PRODUCTS:,} products or "
        "more, or a bias that is as large",
    ),
    Gap(("conv2d_wide",), (FLOAT32,), ("conv2d_float32", "linear_float32")),
    Gap(("ctc_greedy",), (FLOAT32,), (), f"{_ORDER}; {_NOT_LOADED}"),
    Gap(("depthwise_conv2d",), (INT16,), ("conv2d",), "as conv2d with groups"),
    Gap(
        ("depthwise_conv2d",),
        (W4,),
        (ITSELF,),
        "filters whose longer side is not 3, and those with dilation, keep 8 bits: they are faster so, and few bytes "
        "larger",
    ),
    Gap(
        ("depthwise_conv2d",),
        (INT16_W4,),
        (),
        "weights keep 8 bits: in int16 it is conv2d with groups, whose kernels take no others",
    ),
    Gap(("depthwise_conv2d",), (FLOAT32,), ("conv2d_float32",)),
    Gap(
        ("embedding",),
        (W4,),
        (ITSELF,),
        "rows of fewer than 8 numbers keep 8 bits: what a row is multiplied with takes as much as 4 of its numbers",
    ),
    Gap(
        ("embedding",),
        (INT16_W4,),
        (),
        "the table keeps 16 bits: what a row of 4 bits is multiplied with has 16, which is exact to 1/250 of a step of "
        "8 bits, but not to a step of 16",
    ),
    Gap(
        ("extremum",),
        (FLOAT32,),
        ("pair_float32",),
        "cummax and cummin, and what is sorted, run outside: only what is quantized is rewritten as maxima and minima",
    ),
    Gap(
        ("fully_connected",),
        (INT16_W4,),
        (ITSELF,),
        "groups of inputs with a scale become one scale for each output channel, as in fully_connected_groups",
    ),
    Gap(
        ("fully_connected",),
        (W4,),
        (ITSELF, "fully_connected_groups"),
        "the latter where groups of inputs have a scale",
    ),
    Gap(
        ("fully_connected_groups",),
        (INT8, INT16, INT16_W4),
        ("fully_connected",),
        "with one scale for each output channel: the kernel for groups unpacks 4 bits, and the compiler proves for "
        "activations of int8 that the factors of groups change no output by more than half a step",
    ),
    Gap(("fully_connected_groups",), (FLOAT32,), ("linear_float32",)),
    Gap(
        ("function",),
        (INT16,),
        ("lookup", "rescale"),
        "functions with jumps, such as floor, compute in int8: a line between two entries of a table does not jump",
    ),
    Gap(
        ("function",),
        (FLOAT32,),
        ("function_float32", "pair_float32"),
        "others run outside: each takes code of our own that gives the same bits on all cores, because C libraries "
        "differ",
    ),
    Gap(
        ("gru", "lstm", "lstm_projected", "rnn"),
        (INT16, INT16_W4),
        (ITSELF,),
        f"layers with more than {recurrent.MAX_INT16_SIZE} inputs, outputs or units compute in int8: sums of up to "
        f"{recurrent.MAX_INT16_SIZE} products fit 32 bits whatever the weights are",
    ),
    Gap(
        ("gru", "lstm", "lstm_projected"),
        (FLOAT32,),
        _STEPS,
        "step by step, as PyTorch decomposes them; the splits into gates run outside, and divide the call",
    ),
    Gap(
        ("last_state",),
        (FLOAT32,),
        _STEPS,
        "of what PyTorch decomposes; ExecuTorch keeps states that are in float",
    ),
    Gap(
        ("last_step",),
        (FLOAT32,),
        (),
        "runs outside: PyTorch computes with the lengths, which are integers",
    ),
    Gap(("leaky_sum", "selective_state"), (INT16,), (), _LOOKED_UP),
    Gap(("leaky_sum", "selective_state"), (FLOAT32,), _STEPS[1:], "ExecuTorch keeps the state, which is in float"),
    Gap(
        ("log_mel", "pcen"),
        (FLOAT32,),
        (),
        f"sound is int16, as a converter gives it, and the kernel computes with integers; {_NOT_LOADED}",
    ),
    Gap(("log_softmax",), (FLOAT32,), ("softmax_float32",)),
    Gap(("lookup",), (FLOAT32,), ("function_float32",)),
    Gap(
        ("masked_softmax", "softmax"),
        (INT16,),
        (ITSELF,),
        f"rows of more than {softmax_int16.MAX_ROW} numbers compute in int8: the reciprocal of a larger sum of "
        "exponentials has more than 31 bits",
    ),
    Gap(("masked_softmax",), (FLOAT32,), ("pair_float32", "softmax_float32")),
    Gap(
        ("max_pool2d",),
        (FLOAT32,),
        ("pool2d_float32", "reduce_float32"),
        "windows with gaps, adaptive ones and those of volumes run outside: only what is quantized is rewritten",
    ),
    Gap(("nms",), (FLOAT32,), (), f"the kernel compares areas as integers, without rounding; {_NOT_LOADED}"),
    Gap(
        ("normalize",),
        (INT16,),
        (ITSELF,),
        f"norms of more than {normalize.MAX_GROUPS[Element.INT16]} numbers compute in int8: their sums may exceed what "
        "the kernel holds",
    ),
    Gap(("normalize",), (FLOAT32,), ("normalize_float32",)),
    Gap(
        ("prelu",),
        (FLOAT32,),
        (),
        "runs outside: PyTorch makes a comparison and a choice of it after the compiler has looked for those",
    ),
    Gap(("reduce_extremum", "reduce_sum"), (FLOAT32,), ("reduce_float32",)),
    Gap(
        ("reduce_sum",),
        (INT16,),
        (ITSELF,),
        "sums of 2^16 numbers and more compute in int8: they may exceed 32 bits",
    ),
    Gap(("rescale",), (FLOAT32,), ("quantize", "dequantize")),
    Gap(("resize_bilinear",), (FLOAT32,), (), _OUTSIDE),
    Gap(
        ("resize_nearest",),
        (FLOAT32,),
        ("upsample_nearest",),
        f"with factors that are integers; with others it {_OUTSIDE}",
    ),
    Gap(("rnn",), (FLOAT32,), _STEPS, "step by step, as PyTorch decomposes it"),
    Gap(("softmax",), (FLOAT32,), ("softmax_float32",)),
    Gap(("topk_indices", "topk_values"), (FLOAT32,), (), f"runs outside, in ExecuTorch's topk: {_ORDER}"),
    Gap(
        ("transpose_conv2d",),
        (INT16,),
        (ITSELF,),
        "there is no kernel with sums of 64 bits: channels get coarser weights where 32 may not suffice, with a note "
        "if that loses bits, and a model that was quantized elsewhere is refused",
    ),
    Gap(
        ("transpose_conv2d",),
        (W4, INT16_W4),
        ("conv2d",),
        "in one group, without dilation, if the filter is a multiple of the stride; all else keeps 8 bits, as do small "
        "layers: each pixel of a stride is an output channel, whose bias and multiplier would take more flash than the "
        "weights save",
    ),
    Gap(("transpose_conv2d",), (FLOAT32,), (), _OUTSIDE),
)


def generate() -> str:
    """Returns the table, sorted by operator."""
    rows = [
        f"| {', '.join(gap.operators)} | {', '.join(gap.formats)} | {', '.join(gap.by) or 'none'} | {gap.why} |"
        for gap in sorted(GAPS, key=lambda gap: gap.operators[0])
    ]
    return "\n".join(["| operator | format | computed by | what is left, and why |", "|---|---|---|---|", *rows])


def in_float32(op: Op) -> tuple[str, ...]:
    """Returns the operators that compute `op` in float32, at least in part."""
    return next((gap.by for gap in GAPS if op.name in gap.operators and FLOAT32 in gap.formats), ())


def missing(op: Op) -> Iterator[str]:
    """Yields the formats for which `op` has neither a kernel nor a line in `GAPS`. What moves bytes needs none, and
    neither does what stands in for others in float32."""
    computed = format_table.formats(op)
    if not computed or any(op.name in gap.by for gap in GAPS if FLOAT32 in gap.formats and op.elements == _ONLY_FLOAT):
        return
    said = {number for gap in GAPS if op.name in gap.operators for number in gap.formats}
    wanted = [INT8, INT16, *([W4, INT16_W4] if format_table.has_weights(op) else []), FLOAT32]
    yield from (number for number in wanted if number not in computed | said)


def wrong() -> Iterator[str]:
    """Yields what is wrong in `GAPS`."""
    seen: set[tuple[str, str]] = set()
    for gap in GAPS:
        for name in (*gap.operators, *gap.by):
            if name not in (*OPS, ITSELF):
                yield f"{name} is no operator"
        for key in ((name, number) for name in gap.operators for number in gap.formats):
            if key in seen:
                yield f"{key} has two lines"
            seen.add(key)
            computed = format_table.formats(OPS[key[0]]) if key[0] in OPS else set()
            if not gap.by and (key[1] in computed or not gap.why):
                yield f"{key} has a kernel, or no reason"
            if ITSELF in gap.by and (key[1] not in computed or not gap.why):
                yield f"{key} has no kernel of its own, or nothing is left"
