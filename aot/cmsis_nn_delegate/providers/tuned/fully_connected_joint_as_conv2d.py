"""Linear layer with weights of two channels in 16 bits as a pointwise convolution, for cores with DSP."""

from __future__ import annotations

from ...format.schema import Isa
from .fully_connected_as_conv2d import FullyConnectedAsConv2d


class FullyConnectedJointAsConv2d(FullyConnectedAsConv2d):
    """`FullyConnectedAsConv2d` by conv2d_joint_pairs."""

    name = "fully_connected_joint_as_conv2d"
    isas = frozenset({Isa.DSP})
    assumes = (
        f"{FullyConnectedAsConv2d.assumes}, and of every second channel 23 bits, without weights of -128 beside "
        "negative ones of the channel before"
    )
