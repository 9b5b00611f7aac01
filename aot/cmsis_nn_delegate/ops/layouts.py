"""What an operator needs of the memory order of its images, the int8 tensors of rank 4."""

from __future__ import annotations

import enum


class Layouts(enum.Enum):
    """The layouts that one node takes and gives. Tensors of other ranks are always row-major."""

    CHANNELS_LAST = "channels-last"  # all of its images, as CMSIS-NN's kernels for convolution and pooling want them
    ROW_MAJOR = "row-major"  # all of its images: it works along the last dimension
    SAME = "the same"  # either, but one for all of its images
    ANY = "any"  # each image may have its own: the node moves the elements where they differ
