"""Writes lowered graphs as .tflite files, with the schema's classes in the tflite-micro package.

A value becomes a tensor with its shape in memory: NHWC for images. Each node becomes one operator of TFLite, with
another one before it if TFLite's operator can express less than ours: a PADV2 if windows are padded in another way
than SAME and VALID, a TRANSPOSE if a conversion changes the memory order as well.

TFLite stores scales as float32. Graphs with other scales are refused, because their multipliers would differ:
`with_float32_scales` rounds the scales.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import flatbuffers
import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant, TensorType
from cmsis_nn_delegate.ops import storage
from cmsis_nn_delegate.ops.attrs import Clamp, Pair
from cmsis_nn_delegate.ops.cmsis_nn_rules import MAX_SOFTMAX_ROW

_TYPES = {
    Element.INT4: schema.TensorType.INT4,
    Element.INT8: schema.TensorType.INT8,
    Element.INT16: schema.TensorType.INT16,
    Element.INT32: schema.TensorType.INT32,
    Element.INT64: schema.TensorType.INT64,
    Element.FLOAT32: schema.TensorType.FLOAT32,
}
_ACTIVATIONS = {
    Clamp(): schema.ActivationFunctionType.NONE,
    Clamp(0.0): schema.ActivationFunctionType.RELU,
    Clamp(0.0, 6.0): schema.ActivationFunctionType.RELU6,
    Clamp(-1.0, 1.0): schema.ActivationFunctionType.RELU_N1_TO_1,
}
_SAME, _VALID = schema.Padding.SAME, schema.Padding.VALID
_VERSION = 3  # of the schema


class Inexpressible(ValueError):
    """TFLite cannot express the graph."""


def with_float32_scales(graph: Graph) -> Graph:
    """Rounds every scale of `graph` to float32, in place, and returns `graph`."""
    for value in {id(v): v for node in graph.nodes for v in (*node.inputs, *node.outputs)}.values():
        if value.quant is not None:
            scales = tuple(float(np.float32(scale)) for scale in value.quant.scale)
            value.retype(quant=Quant(scales, value.quant.zero_point, value.quant.axis))
    return graph


@dataclass(frozen=True)
class TfliteModel:
    """A .tflite file, and the tensor in it that is each output of the nodes of the graph, in their order."""

    data: bytes
    outputs: tuple[int, ...]


def tflite_model(graph: Graph) -> TfliteModel:
    """Returns `graph` as a model. Raises Inexpressible if TFLite cannot express a node."""
    writer = _Writer()
    for node in graph.nodes:
        _WRITERS[node.op](writer, node)
    inputs, outputs = ([writer.tensor_of(value) for value in values] for values in (graph.inputs, graph.outputs))
    results = tuple(writer.tensor_of(value) for node in graph.nodes for value in node.outputs)
    return TfliteModel(writer.finish(inputs, outputs), results)


def has_writer(operator: str) -> bool:
    """Returns whether this module knows how to express `operator` in TFLite."""
    return operator in _WRITERS


def tensor_shape(value: Value) -> tuple[int, ...]:
    """Returns NHWC for images; but a row-major image that NHWC would put in a different order keeps its shape."""
    if len(value.shape) != 4:
        return value.shape
    n, c, h, w = value.shape
    return value.shape if value.layout is Layout.ROW_MAJOR and c > 1 and h * w > 1 else (n, h, w, c)


class _Writer:
    """A model under construction; indices identify tensors and operators."""

    def __init__(self) -> None:
        self._tensors: list[Any] = []
        self._operators: list[Any] = []
        self._codes: list[int] = []
        self._buffers = [schema.BufferT()]  # the first is the empty one, of every tensor without data
        self._of_value: dict[int, int] = {}

    def tensor(
        self, name: str, shape: Sequence[int], dtype: Element, quant: Any = None, data: Optional[np.ndarray] = None
    ) -> int:
        buffer = 0
        if data is not None:
            buffer = len(self._buffers)
            stored = TensorType(dtype, data.shape).to_bytes(data)
            self._buffers.append(schema.BufferT(data=np.frombuffer(stored, np.uint8)))
        self._tensors.append(
            schema.TensorT(
                shape=list(shape), type=_TYPES[dtype], buffer=buffer, name=name, quantization=quant, hasRank=True
            )
        )
        return len(self._tensors) - 1

    def tensor_of(self, value: Value) -> int:
        """Of an activation, or of a constant that is read as one; the same one each time."""
        if id(value) not in self._of_value:
            data = storage.to_storage(value.constant, value) if value.is_constant else None
            self._of_value[id(value)] = self.tensor(
                value.name, tensor_shape(value), value.element, _quantization(value.quant), data
            )
        return self._of_value[id(value)]

    def variable(self, value: Value) -> int:
        """The tensor of `value`, which keeps it from one execution to the next, and starts as real zeros."""
        index = self.tensor_of(value)
        self._tensors[index].isVariable = True
        return index

    def integers(self, name: str, data: np.ndarray) -> int:
        """A constant of int32."""
        return self.tensor(name, data.shape, Element.INT32, None, data)

    def operator(self, builtin: str, inputs: Sequence[int], output: int, **options: Any) -> None:
        code = getattr(schema.BuiltinOperator, builtin)
        if code not in self._codes:
            self._codes.append(code)
        kind = _OPTIONS[builtin]
        self._operators.append(
            schema.OperatorT(
                opcodeIndex=self._codes.index(code),
                inputs=list(inputs),
                outputs=[output],
                builtinOptionsType=getattr(schema.BuiltinOptions, kind),
                builtinOptions=getattr(schema, kind + "T")(**options),
            )
        )

    def finish(self, inputs: list[int], outputs: list[int]) -> bytes:
        model = schema.ModelT(
            version=_VERSION,
            # Readers from before 2020 read the 8-bit code.
            operatorCodes=[
                schema.OperatorCodeT(builtinCode=code, deprecatedBuiltinCode=min(code, 127)) for code in self._codes
            ],
            subgraphs=[
                schema.SubGraphT(tensors=self._tensors, inputs=inputs, outputs=outputs, operators=self._operators)
            ],
            buffers=self._buffers,
        )
        builder = flatbuffers.Builder()
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


_OPTIONS = {
    "ADD": "AddOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "DEQUANTIZE": "DequantizeOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MUL": "MulOptions",
    "PAD": "PadOptions",
    "PADV2": "PadV2Options",
    "QUANTIZE": "QuantizeOptions",
    "RESHAPE": "ReshapeOptions",
    "SOFTMAX": "SoftmaxOptions",
    "SUB": "SubOptions",
    "TRANSPOSE": "TransposeOptions",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions",
}


def _quantization(quant: Optional[Quant], dimension: int = 0) -> Any:
    if quant is None:
        return None
    if any(float(np.float32(scale)) != scale for scale in quant.scale):
        raise Inexpressible(f"scales that are not float32: {quant.scale[:4]}")
    return schema.QuantizationParametersT(
        scale=np.array(quant.scale, np.float32),
        zeroPoint=np.full(len(quant.scale), quant.zero_point, np.int64),
        quantizedDimension=dimension,
    )


def _activation(clamp: Clamp) -> int:
    if clamp not in _ACTIVATIONS:
        raise Inexpressible(f"TFLite has no activation for {clamp}")
    return _ACTIVATIONS[clamp]


# Windows ---------------------------------------------------------------------


def _named_padding(node: Node, kernel: Pair, dilation: Pair = (1, 1)) -> Optional[int]:
    """Returns SAME or VALID, if one of them gives the padding and the output size of `node`."""
    attrs = node.attrs
    sizes = list(
        zip(
            node.inputs[0].shape[2:],
            node.output.shape[2:],
            ((k - 1) * d + 1 for k, d in zip(kernel, dilation)),
            attrs.stride,
            (attrs.padding.top, attrs.padding.left),
        )
    )
    if all(pad == 0 and out == -(-(size - extent + 1) // stride) for size, out, extent, stride, pad in sizes):
        return _VALID
    if all(
        out == -(-size // stride) and pad == max((out - 1) * stride + extent - size, 0) // 2
        for size, out, extent, stride, pad in sizes
    ):
        return _SAME
    return None


def _padded(writer: _Writer, node: Node, fill: int, kernel: Pair, dilation: Pair = (1, 1)) -> tuple[int, int]:
    """Returns (tensor, TFLite's padding) for the windows of `node`; `fill` is the value of pixels outside the image.

    Padding other than SAME and VALID becomes a PADV2 in front.
    """
    x = node.inputs[0]
    named = _named_padding(node, kernel, dilation)
    if named is not None:
        return writer.tensor_of(x), named
    pads = node.attrs.padding
    amounts = np.array([(0, 0), (pads.top, pads.bottom), (pads.left, pads.right), (0, 0)])
    quant = _quantization(x.quant)
    wanted = [size + int(sum(pair)) for size, pair in zip(tensor_shape(x), amounts)]
    padded = writer.tensor(f"{x.name}_padded", wanted, x.element, quant)
    value = writer.tensor(f"{x.name}_fill", (1,), x.element, quant, np.array([fill]))
    writer.operator("PADV2", [writer.tensor_of(x), writer.integers(f"{x.name}_amounts", amounts), value], padded)
    return padded, _VALID


# Operators -------------------------------------------------------------------


def _weights(writer: _Writer, node: Node, data: np.ndarray, dimension: int) -> list[int]:
    """Returns the tensors of the filter, stored as `data` with the scales along `dimension`, and of the bias."""
    x, weight, bias = node.inputs
    # TFLM multiplies no weights of 4 bits with int16: it is given the same numbers in 8.
    element = Element.INT8 if x.element is Element.INT16 else weight.element
    scales = np.float32(x.quant.scale[0]) * np.array(weight.quant.scale, np.float32)
    of_bias = schema.QuantizationParametersT(scale=scales, zeroPoint=np.zeros(len(scales), np.int64))
    return [
        writer.tensor(weight.name, data.shape, element, _quantization(weight.quant, dimension), data),
        writer.tensor(bias.name, bias.shape, bias.element, of_bias, bias.data),
    ]


def _convolution_options(node: Node, padding: int) -> dict[str, int]:
    attrs = node.attrs
    return {
        "padding": padding,
        "strideH": attrs.stride[0],
        "strideW": attrs.stride[1],
        "dilationHFactor": attrs.dilation[0],
        "dilationWFactor": attrs.dilation[1],
        "fusedActivationFunction": _activation(attrs.clamp),
    }


def _conv2d(writer: _Writer, node: Node) -> None:
    x, weight, _ = node.inputs
    source, padding = _padded(writer, node, x.quant.zero_point, weight.shape[2:], node.attrs.dilation)
    constants = _weights(writer, node, weight.data.transpose(0, 2, 3, 1), 0)
    output = writer.tensor_of(node.output)
    writer.operator("CONV_2D", [source, *constants], output, **_convolution_options(node, padding))


def _depthwise_conv2d(writer: _Writer, node: Node) -> None:
    x, weight, _ = node.inputs
    source, padding = _padded(writer, node, x.quant.zero_point, weight.shape[2:], node.attrs.dilation)
    constants = _weights(writer, node, weight.data.transpose(1, 2, 3, 0), 3)
    writer.operator(
        "DEPTHWISE_CONV_2D",
        [source, *constants],
        writer.tensor_of(node.output),
        depthMultiplier=weight.shape[0] // x.shape[1],
        **_convolution_options(node, padding),
    )


def _fully_connected(writer: _Writer, node: Node) -> None:
    x, weight, _ = node.inputs
    if weight.element is Element.INT4 and x.element is Element.INT8 and len(weight.quant.scale) > 1:
        raise Inexpressible("TFLM's linear layers with weights of 4 bits have one scale")
    constants = _weights(writer, node, weight.data, 0)
    writer.operator(
        "FULLY_CONNECTED",
        [writer.tensor_of(x), *constants],
        writer.tensor_of(node.output),
        fusedActivationFunction=_activation(node.attrs.clamp),
    )


def _elementwise(writer: _Writer, node: Node, builtin: str) -> None:
    # TFLite broadcasts them as the tensors' shapes say.
    inputs = [writer.tensor_of(value) for value in node.inputs]
    activation = _activation(node.attrs.clamp)
    writer.operator(builtin, inputs, writer.tensor_of(node.output), fusedActivationFunction=activation)


def _add(writer: _Writer, node: Node) -> None:
    alpha = node.attrs.alpha
    if abs(alpha) != 1:
        raise Inexpressible("a sum with a factor")
    if max(len(value.shape) for value in node.inputs) > 4:
        raise Inexpressible("a sum of rank 5 or more")
    _elementwise(writer, node, "ADD" if alpha == 1 else "SUB")


def _mul(writer: _Writer, node: Node) -> None:
    if max(len(value.shape) for value in node.inputs) > 4:
        raise Inexpressible("a product of rank 5 or more")
    _elementwise(writer, node, "MUL")


def _pool(writer: _Writer, node: Node, builtin: str, source: int, padding: int) -> None:
    attrs = node.attrs
    writer.operator(
        builtin,
        [source],
        writer.tensor_of(node.output),
        padding=padding,
        strideH=attrs.stride[0],
        strideW=attrs.stride[1],
        filterHeight=attrs.kernel[0],
        filterWidth=attrs.kernel[1],
        fusedActivationFunction=_activation(attrs.clamp),
    )


def _avg_pool2d(writer: _Writer, node: Node) -> None:
    padding = _named_padding(node, node.attrs.kernel)
    if padding is None:
        raise Inexpressible(
            "average pooling with padding other than SAME or VALID: the average would count a PAD in front"
        )
    _pool(writer, node, "AVERAGE_POOL_2D", writer.tensor_of(node.inputs[0]), padding)


def _max_pool2d(writer: _Writer, node: Node) -> None:
    if node.attrs.dilation != (1, 1):
        raise Inexpressible("MAX_POOL_2D has no gaps between the pixels of its window")
    _pool(writer, node, "MAX_POOL_2D", *_padded(writer, node, node.output.element.low, node.attrs.kernel))


def _softmax(writer: _Writer, node: Node) -> None:
    x = node.inputs[0]
    if math.prod(x.shape[node.attrs.dim + 1 :]) != 1 or tensor_shape(x) != x.shape:
        raise Inexpressible("softmax along a dimension other than the last")
    if x.element is not Element.INT8:
        raise Inexpressible("softmax of int16, whose exponentials TFLite Micro rounds to fewer bits")
    if x.shape[node.attrs.dim] > MAX_SOFTMAX_ROW:
        raise Inexpressible("softmax of a row whose sum of exponentials is beyond TFLite Micro's range")
    writer.operator("SOFTMAX", [writer.tensor_of(x)], writer.tensor_of(node.output), beta=1.0)


def _in_order_of(writer: _Writer, node: Node) -> int:
    """Returns the tensor of the input of `node` with its elements in the output's order."""
    x, y = node.inputs[0], node.output
    if storage.effective_layout(x) is storage.effective_layout(y):
        return writer.tensor_of(x)
    if x.shape != y.shape:
        raise Inexpressible("a conversion that changes shape and memory order")
    name, quant = f"{x.name}_in_order", _quantization(x.quant)
    return _transposed(writer, x, y.layout, writer.tensor(name, tensor_shape(y), x.element, quant))


def _transposed(writer: _Writer, x: Value, to: Layout, result: int) -> int:
    order = tuple(range(len(x.shape)))
    if storage.effective_layout(x) is not storage.effective_layout(x.type.of(layout=to)):
        order = (0, 2, 3, 1) if to is Layout.CHANNELS_LAST else (0, 3, 1, 2)
    permutation = writer.integers(f"{x.name}_order", np.array(order))
    writer.operator("TRANSPOSE", [writer.tensor_of(x), permutation], result)
    return result


def _transpose(writer: _Writer, node: Node) -> None:
    _transposed(writer, node.inputs[0], node.output.layout, writer.tensor_of(node.output))


def _quantize(writer: _Writer, node: Node) -> None:
    writer.operator("QUANTIZE", [_in_order_of(writer, node)], writer.tensor_of(node.output))


def _rescale(writer: _Writer, node: Node) -> None:
    attrs = node.attrs
    if (attrs.factor, attrs.addend, attrs.clamp) != (1.0, 0.0, Clamp()):
        raise Inexpressible("a factor, an addend or limits in a conversion")
    writer.operator("QUANTIZE", [writer.tensor_of(node.inputs[0])], writer.tensor_of(node.output))


def _dequantize(writer: _Writer, node: Node) -> None:
    writer.operator("DEQUANTIZE", [_in_order_of(writer, node)], writer.tensor_of(node.output))


def _batch_matmul(writer: _Writer, node: Node) -> None:
    attrs = node.attrs
    if attrs.clamp != Clamp():
        raise Inexpressible("a product of matrices with limits")
    operands = []
    for value, sizes in zip(node.inputs, (attrs.a, attrs.b)):
        shaped = writer.tensor(f"{value.name}_matrices", sizes, value.element, _quantization(value.quant))
        writer.operator(
            "RESHAPE", [writer.tensor_of(value), writer.integers(f"{value.name}_sizes", np.array(sizes))], shaped
        )
        operands.append(shaped)
    output = node.output
    product = writer.tensor(f"{output.name}_matrices", attrs.output, output.element, _quantization(output.quant))
    writer.operator("BATCH_MATMUL", operands, product, adjX=False, adjY=True)
    sizes = writer.integers(f"{output.name}_sizes", np.array(tensor_shape(output)))
    writer.operator("RESHAPE", [product, sizes], writer.tensor_of(output))


# Of an LSTM: no peephole, projection or layer norm.
_NONE = -1


def _lstm(writer: _Writer, node: Node) -> None:
    x, hidden, cells, weight, recurrent, bias, recurrent_bias = node.inputs
    if node.attrs.reverse:
        raise Inexpressible("an LSTM from the last step to the first")
    if not all(state.is_constant and (state.data == state.zero_point).all() for state in (hidden, cells)):
        raise Inexpressible("an LSTM that starts from anything but zeros")
    if recurrent_bias.constant.any():
        raise Inexpressible("an LSTM with two biases")

    def gates(value: Value) -> list[int]:
        """The constants of the gates, each with one scale."""
        found = []
        for index, data in enumerate(np.split(value.constant, 4)):
            quant = None if value.quant is None else Quant((value.quant.scale[index * len(data)],), 0)
            found.append(writer.tensor(f"{value.name}_{index}", data.shape, value.element, _quantization(quant), data))
        return found

    output, last_cells = node.outputs
    # TFLM keeps the hidden state apart from the output.
    state = Value(f"{node.name}_hidden", hidden.type)
    variables = [writer.variable(state), writer.variable(last_cells)]
    inputs = [writer.tensor_of(x), *gates(weight), *gates(recurrent), *[_NONE] * 3, *gates(bias), *[_NONE] * 2]
    writer.operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [*inputs, *variables, *[_NONE] * 4],
        writer.tensor_of(output),
        fusedActivationFunction=schema.ActivationFunctionType.TANH,
        timeMajor=not node.attrs.batch_first,
    )


_WRITERS = {
    "add": _add,
    "avg_pool2d": _avg_pool2d,
    "batch_matmul": _batch_matmul,
    "conv2d": _conv2d,
    "conv2d_wide": _conv2d,
    "depthwise_conv2d": _depthwise_conv2d,
    "dequantize": _dequantize,
    "fully_connected": _fully_connected,
    "lstm": _lstm,
    "max_pool2d": _max_pool2d,
    "mul": _mul,
    "quantize": _quantize,
    "rescale": _rescale,
    "softmax": _softmax,
    "transpose": _transpose,
}
