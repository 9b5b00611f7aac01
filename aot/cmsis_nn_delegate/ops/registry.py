"""All operators by name: adding one is adding a line to `OPS`."""

from __future__ import annotations

from .add import Add
from .avg_pool2d import AvgPool2d
from .clamp import Clamp
from .conv2d import Conv2d
from .depthwise_conv2d import DepthwiseConv2d
from .dequantize import Dequantize
from .fully_connected import FullyConnected
from .max_pool2d import MaxPool2d
from .op import Op
from .pad import Pad
from .quantize import Quantize
from .reshape import Reshape
from .softmax import Softmax
from .transpose import Transpose

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Conv2d(),
        DepthwiseConv2d(),
        FullyConnected(),
        Add(),
        AvgPool2d(),
        MaxPool2d(),
        Softmax(),
        Quantize(),
        Dequantize(),
        Transpose(),
        Clamp(),
        Pad(),
        Reshape(),
    )
}
