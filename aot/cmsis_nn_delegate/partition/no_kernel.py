"""Why a function that the delegate has no operator for stays outside, and what to write in its place: `no_kernel`."""

from __future__ import annotations

import re

from ..edge.nodes import DEQUANTIZE_BLOCKS, DEQUANTIZE_GROUPS
from ..edge.refusal import DYNAMICALLY
from ..quantization.choices import MOST_PARTS, MOST_WEIGHTS
from ..quantization.control_flow import MOST_TURNS
from ..quantization.recurrent import KINDS, MAX_STEPS

_ATTENTION = "aten.scaled_dot_product_attention.default"
_SORTED = (
    "in models that CmsisNnQuantizer prepares, as compile_model does, the delegate sorts floats along a dimension, and "
    "finds the largest, smallest, k-th and middle numbers and where they are. Return the numbers, and compute what is "
    "none of these from them in the application: their int8 steps have the same order"
)
_COMPARED = (
    "comparisons of float32 are computed in the delegate where torch.where, masked_fill, .float(), a product or a sum "
    "reads them; for booleans as a result, return the numbers and compare in the application"
)
_SIZED = (
    "how many elements it has depends on values that only an inference knows, and memory is planned ahead: keep all "
    "elements and make the others 0, with torch.where or a product with (condition).float()"
)
_INDEXED = (
    "indices of activations that are written to, or lie in several dimensions, have to be constant, and form few "
    "slices or a small matrix: at most "
    f"{MOST_PARTS} runs of equal distances, or {MOST_WEIGHTS} elements times indices. Sort or shorten the indices, or "
    "choose in parts; for an index that is computed write a product with (torch.arange(n) == index).float(), and a sum"
)
_UNROLLED = (
    f"its body is repeated in the delegate up to {MOST_TURNS} times, with at most 2048 calls in total; a longer one "
    "runs in ExecuTorch, in float: divide the sequence, or write the body for whole batches, as torch.vmap does"
)
_FINITE = (
    "it stays in float, with what it tests up to the layer before. What a layer computes is finite in int8, so that "
    "the answer is always the same there, whatever float gives: test what the layer reads, or leave the test out"
)
_BOUNDED = (
    "a remainder jumps where its operands have small errors; for a constant divisor it is a function of one number and "
    "computed in the delegate"
)
_GROUPED = (
    "the kernels take constant weights with one scale for each output channel, of linear layers in 4 bits also one for "
    "each group of inputs, and tables with one for each row: quantize them with those, or prepare the model that has "
    "these with CmsisNnQuantizer, as compile_model does, which quantizes the numbers that they stand for again"
)

# What helps with operators that none of ours has as a target, so that no class could say it.
_HELP = {
    **dict.fromkeys(
        (
            "aten.topk.default",
            "aten.sort.default",
            "aten.sort.stable",
            "aten.argsort.default",
            "aten.argsort.stable",
            "aten.msort.default",
            "aten.median.default",
            "aten.median.dim",
            "aten.nanmedian.default",
            "aten.nanmedian.dim",
            "aten.kthvalue.default",
            "aten.mode.default",
            "aten.quantile.scalar",
            "aten.quantile.default",
        ),
        _SORTED,
    ),
    **{
        f"aten.{name}.{overload}": _COMPARED
        for name in ("gt", "lt", "ge", "le", "eq", "ne")
        for overload in ("Scalar", "Tensor")
    },
    **dict.fromkeys(
        (
            "aten.masked_select.default",
            "aten.nonzero.default",
            "aten.nonzero_numpy.default",
            "aten.argwhere.default",
            "aten._unique2.default",
            "aten.unique_dim.default",
            "aten.unique_consecutive.default",
            "aten.repeat_interleave.Tensor",
            "aten.repeat_interleave.self_Tensor",
        ),
        _SIZED,
    ),
    **dict.fromkeys(
        (
            "aten.take.default",
            "aten.take_along_dim.default",
            "aten.index_copy.default",
            "aten.index_add.default",
            "aten.index_fill.int_Scalar",
            "aten.index_fill.int_Tensor",
            "aten.index_put.default",
            "aten.scatter.src",
            "aten.scatter.value",
            "aten.scatter_add.default",
            "aten.masked_scatter.default",
            "aten.put.default",
            "aten.diagonal_scatter.default",
        ),
        _INDEXED,
    ),
    **dict.fromkeys(
        ("aten.scatter.reduce", "aten.scatter.value_reduce", "aten.scatter_reduce.two", "aten.index_reduce.default"),
        "scatter and index_add with constant indices are computed in the delegate, without other reductions: choose "
        "the elements of each result, x[:, [1, 4]], and reduce them with amax, amin or a product",
    ),
    "map_impl": _UNROLLED,
    **dict.fromkeys(
        ("aten.fmod.Tensor", "aten.remainder.Tensor", "aten.floor_divide.default", "aten.div.Tensor_mode"), _BOUNDED
    ),
    **dict.fromkeys(
        ("aten.cummax.default", "aten.cummin.default"),
        "the numbers alone are computed in the delegate: do not read the indices",
    ),
    "aten.logcumsumexp.default": "write torch.cumsum(torch.exp(x - c), dim).log() + c with a constant c near the "
    "largest x, which is computed in the delegate",
    **dict.fromkeys(
        ("aten.cumsum.default", "aten.cumprod.default"),
        "it is computed in the delegate of float32: convert what it reads with .float()",
    ),
    **dict.fromkeys(
        ("aten.bucketize.Tensor", "aten.searchsorted.Tensor"),
        "write (x.unsqueeze(-1) > boundaries).float().sum(-1), which is computed in the delegate",
    ),
    **dict.fromkeys(("aten.isnan.default", "aten.isinf.default", "aten.isfinite.default"), _FINITE),
    "aten.one_hot.default": "of the place of a maximum write (x == x.amax(-1, keepdim=True)).float(), and of an input "
    "torch.eye(n)[index], both of which are computed in the delegate",
    "aten.isclose.default": "write (a - b).abs() < tolerance",
    **dict.fromkeys(
        ("aten.upsample_trilinear3d.vec", "aten.upsample_nearest3d.vec"),
        "layers and pools of three dimensions are computed in the delegate: enlarge with repeat_interleave",
    ),
    "aten.item.default": "a number on its own leaves the program: keep it a tensor (x * y.sum() without .item())",
    "aten.as_strided.default": "write unfold, slices or reshape, which say what they move",
    "aten.linalg_vector_norm.default": "vectors divided by their length along one dimension are computed in the "
    "delegate, F.normalize(x, dim=...) with p=2 and eps of at most 1e-6; for the length alone write "
    "(x * x).sum(dim).sqrt()",
    **dict.fromkeys((DEQUANTIZE_BLOCKS, DEQUANTIZE_GROUPS), _GROUPED),
    "aten.embedding_renorm.default": "an embedding with max_norm writes into its table: once it is trained, limit the "
    "rows of the table once (torch.renorm(weight, p, 0, max_norm)) and set max_norm to None",
}
# Scales that each inference computes, of a tensor or of each row.
_DYNAMIC = re.compile(r"(quantized_decomposed|torchao)\.(choose_qparams|(de)?quantize_per_(tensor\.tensor|token))")
_OF_TWO = re.compile(r"aten\.special_(zeta|\w+_polynomial_\w+)\.")
_BAGS = frozenset(
    {
        "aten.embedding_bag.default",
        "aten.embedding_bag.padding_idx",
        "aten._embedding_bag.default",
        "aten._embedding_bag_forward_only.default",
    }
)
_RECURRENT = frozenset(map(str, KINDS))


def no_kernel(target: str, missing: str) -> str:
    """Returns why an unknown operator is not delegated. `missing` is the kernel that ExecuTorch lacks, "" if
    it can run the operator."""
    if target.startswith("cmsis_nn_delegate.sequence_"):
        return (
            f"no kernel for {target}: once quantized, layers for sequences of different lengths are computed if the "
            "shape of the input is fixed, and if the initial state of a GRU is a constant or a result from -1 to 1; "
            "they are not in training with quantization"
        )
    if target in _RECURRENT:
        return (
            f"no kernel for {target}: once quantized, recurrent layers of sequences of a fixed length are computed, if "
            f"the initial state of a GRU is known to be from -1 to 1; others, and all in training with quantization, "
            f"step by step, up to {MAX_STEPS} steps: call the layer for one part of the sequence after the other, with "
            "the state that the part before returned"
        )
    if target == _ATTENTION:
        return (
            f"no kernels for this call of {target}: its constant mask of true and false hides whole rows, or it drops "
            "elements out; let the mask leave something in each row, and set dropout_p to 0 unless the model is trained"
        )
    if target in _BAGS:
        return (
            f"no kernel for {target}: use nn.Embedding and a sum or mean over the rows of each bag, which are computed "
            "in the delegate if all bags have the same size"
        )
    if target in _HELP:
        outside = (
            f"and none in ExecuTorch either, whose portable kernels lack {missing}: the program cannot be loaded "
            "unless you link one"
            if missing
            else "it runs in float outside of the delegate"
        )
        return f"no kernel for {target}, {outside}; {_HELP[target]}"
    if _DYNAMIC.match(target):
        return f"no kernel for {target}: {DYNAMICALLY}"
    if _OF_TWO.match(target):
        return (
            f"no kernel for {target}, and none in ExecuTorch either: the program cannot be loaded unless you link one. "
            "The delegate looks up functions of one number, and this one has two arguments: compute it in the "
            "application, or write it as a product of powers if its degree is constant"
        )
    if not missing:
        return (
            f"no kernel for {target}; it runs in float outside of the delegate: replace it by supported "
            "operators if that matters"
        )
    return (
        f"no kernel for {target}, and none in ExecuTorch either, whose portable kernels lack {missing}: "
        "the program cannot be loaded unless you link one; replace it by other operators"
    )
