"""The rewrites of an exported model before it is quantized: `REWRITES`, in their order.

Each keeps what the model computes, up to rounding in float. `prepare_pt2e` has folded batch norms into the layers
before them already, and calls the quantizer, which applies the list: `cmsisnn compile --print-after prepare` shows the
result, with the observers that follow. The module of a rewrite says how it works.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

from torch.fx import GraphModule

from .aliases import aliases_to_functions
from .batch_norms import batch_norms_to_convolutions
from .bias_correction import give_biases
from .clamps import clamps_to_numbers
from .compositions import spell_out_products
from .conditions import conditions_to_numbers
from .configuration import Configuration
from .constant_indices import constant_indices_to_parts
from .constants import fold_constants
from .crops import crops_to_padding
from .divisions import divisions_to_products
from .equalization import equalize
from .float_powers import float_powers_to_powers
from .input_indices import input_indices_to_products
from .kept_sums import separate_kept_sums, show_kept_sums
from .lengths import lengths_to_products
from .masks import take_masks
from .pools import rewrite_pools
from .prepare import unpad_same
from .products import split_products
from .recurrent import compute_cells, separate_recurrent_layers
from .scatters import scatters_to_concats
from .selections import separate_selections
from .sequences import images_of_sequences
from .softmax_axes import softmax_along_rows
from .splits import separate_parts
from .stacked_states import separate_stacked_states
from .volumes import volumes_to_images


@dataclass(frozen=True)
class Rewrite:
    """`run` changes its argument. `trained`, if it differs, is for models that training with quantization changes
    afterwards."""

    run: Callable[[GraphModule], None]
    why: str
    trained: Optional[Callable[[GraphModule], None]] = None


REWRITES = (
    Rewrite(aliases_to_functions, "operators are known by one name each"),
    Rewrite(float_powers_to_powers, "kernels know no float64"),
    Rewrite(
        separate_recurrent_layers,
        "a kernel computes one layer in one direction",
        trained=lambda model: separate_recurrent_layers(model, trained=True),  # no observers inside of the layers
    ),
    Rewrite(separate_stacked_states, "each layer keeps its own state, with its own scale"),
    Rewrite(spell_out_products, "the parts of einsum, glu and the like are quantized one by one"),
    Rewrite(
        separate_kept_sums,
        "a sum that is kept needs more than 8 bits; einsum and lerp are spelled out already",
        trained=lambda model: None,  # the operators have no gradients
    ),
    Rewrite(
        volumes_to_images,
        "kernels compute images",
        trained=lambda model: None,  # the filters in another shape would not be parameters
    ),
    Rewrite(lengths_to_products, "a sum of squares leaves few steps to small lengths"),
    Rewrite(constant_indices_to_parts, "what is chosen at places that are known is a slice"),
    Rewrite(input_indices_to_products, "kernels look up in constants only, such as a unit matrix"),
    Rewrite(scatters_to_concats, "a concatenation shares one scale and can be computed in place"),
    Rewrite(
        fold_constants,
        "what is computed of constants is a weight",
        trained=lambda model: fold_constants(model, trained=True),  # parameters are not constant
    ),
    Rewrite(clamps_to_numbers, "kernels clamp to numbers; constants are folded already"),
    Rewrite(separate_parts, "a list of tensors cannot be quantized"),
    Rewrite(separate_selections, "a kernel has one result"),
    Rewrite(images_of_sequences, "kernels compute images, and a network of sequences moves no data in between"),
    Rewrite(unpad_same, "kernels take padding as numbers"),
    Rewrite(crops_to_padding, "pixels that are cut off again need not be computed"),
    Rewrite(rewrite_pools, "kernels divide by the number of pixels of a window"),
    Rewrite(batch_norms_to_convolutions, "a batch norm with no layer before it is a depthwise convolution"),
    Rewrite(divisions_to_products, "1 / c is rounded to 8 bits instead of c"),
    Rewrite(split_products, "the parts of attention are quantized one by one"),
    Rewrite(take_masks, "a mask would take the scale from the scores"),
    Rewrite(conditions_to_numbers, "the delegate has no booleans; masks before a softmax are taken already"),
    Rewrite(softmax_along_rows, "kernels take rows"),
)


def rewrite(model: GraphModule, configuration: Configuration, trained: bool = False) -> None:
    """Applies `REWRITES` to `model`, and then what `configuration` asks for: equalization, and a bias for each layer
    that `bias_correction` may correct. Last come the cells of LSTMs and states that nothing reads: others would remove
    them."""
    for one in REWRITES:
        (one.trained if trained and one.trained is not None else one.run)(model)
    if configuration.equalization:
        equalize(model, relu6=configuration.equalization == "relu6")
    # What is trained adapts its biases itself.
    if configuration.bias_correction or (configuration.corrects_biases and not trained):
        give_biases(model)
    if not trained:
        compute_cells(model)
        show_kept_sums(model)
