"""CMSIS-NN's mean of windows."""

from __future__ import annotations

from ...graph.ir import Node
from ...ops import avg_pool2d, storage
from ...targets.target import Target
from ..implementation import Implementation, Symbol, Workspace
from . import scratch


class AvgPool2dInt16(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "avg_pool2d",
            Symbol(
                avg_pool2d.INT16,
                "arm_avgpool_s16",
                (
                    "PoolingFunctions/arm_avgpool_get_buffer_sizes_s16.c",
                    "PoolingFunctions/arm_avgpool_s16.c",
                ),
            ),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        _, _, width, channels = storage.nhwc(node.output)
        size = scratch.query("avgpool_buffer_size", target, "A16W8", dim_dst_width=width, ch_src=channels)
        return Workspace(size)


class AvgPool2d(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "avg_pool2d",
            Symbol(
                avg_pool2d.KERNEL,
                "arm_avgpool_s8",
                (
                    "PoolingFunctions/arm_avgpool_get_buffer_sizes_s8.c",
                    "PoolingFunctions/arm_avgpool_s8.c",
                ),
            ),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        _, _, width, channels = storage.nhwc(node.output)
        return Workspace(scratch.query("avgpool_buffer_size", target, dim_dst_width=width, ch_src=channels))
