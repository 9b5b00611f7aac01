"""Integer reference == TensorFlow Lite Micro, byte for byte, on random LSTM layers: the results of all steps and the
cells after the last one. Where the second sum of a gate exceeds 16 bits, the reference computes what CMSIS-NN does, and
TFLM's own kernel something else (README.md)."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.lstm import Lstm, LstmAttrs
from cmsis_nn_delegate.ops.recurrent import Sizes, Step, sat16
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase
from tests.witness.tflite_model import Inexpressible, tflite_model, with_float32_scales
from tests.witness.tflm import Tflm, difference

CASES = 300


class WatchedLstm(Lstm):
    """The operator; `exceeded` says whether the second sum of a gate has exceeded 16 bits."""

    exceeded = False

    def update(self, node, step, state):
        self.exceeded |= bool(np.any(step.recurrent != sat16(step.recurrent)))
        return super().update(node, step, state)


class LimitedLstm(Lstm):
    """The layer as TFLM computes it: the second sum of a gate is limited to 16 bits before the first one is added."""

    def update(self, node, step, state):
        return super().update(node, Step(step.inputs, sat16(step.recurrent)), state)


def layer(seed: int) -> Graph:
    """Returns a random layer that TFLite can express: forwards, from zeros, with one bias."""
    d = RandomCase(seed)
    attrs = LstmAttrs(batch_first=d.pick(False, True), cell_bits=d.integer(8, 15))
    quant = d.quant(float(2.0 ** -d.random.uniform(6.5, 8)))
    sizes = Sizes(d.integer(1, 20), d.pick(1, 1, 2, 5), d.integer(1, 70), d.pick(d.integer(1, 9), d.integer(1, 70)))
    Lstm.draw_layer(d, attrs, quant, sizes)
    (node,) = d.nodes
    shape = (sizes.batch, sizes.hidden)
    zero = quant.zero_point
    hidden = d.constant(shape, Element.INT8, zero, zero, quant)
    cells = d.constant(shape, Element.INT16, 0, 0, Lstm.wide_quant(attrs))
    node.inputs[1:3] = [hidden, cells]
    node.inputs[6] = d.constant(node.inputs[6].shape, Element.INT32, 0, 0)
    del d.inputs[1:]  # the states
    return with_float32_scales(d.graph(node.outputs[0]))


def outputs(graph: Graph, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Returns what the reference computes: the results of all steps, and the last cells."""
    found: list[np.ndarray] = []
    reference.run(graph, inputs, lambda _, value, output: found.append(output))
    return found


def differences(lstm: Lstm, monkeypatch: pytest.MonkeyPatch, seed: int) -> str:
    """Returns how two runs of layer `seed`, of which the second goes on from the states of the first, differ from those
    of TFLM if `lstm` computes them here."""
    graph = layer(seed)
    tflm = Tflm(graph)
    (node,) = graph.nodes
    with monkeypatch.context() as patched:
        patched.setitem(OPS, "lstm", lstm)
        for run in range(2):
            inputs = random_inputs(graph, seed + run)
            results = outputs(graph, inputs)
            found = "; ".join(filter(None, map(difference, results, tflm.run(inputs))))
            if found:
                return f"layer {seed}, run {run}: {found}"
            output, cells = results
            last = output[:, -1] if node.attrs.batch_first else output[-1]
            for state, data in zip(node.inputs[1:3], (last, cells)):
                state.data = np.ascontiguousarray(data)
    return ""


def test_every_byte_is_tflms_if_sums_have_16_bits(monkeypatch, pytestconfig):
    count = pytestconfig.getoption("--cases") or CASES
    problems, compared = [], 0
    for seed in range(count):
        lstm = WatchedLstm()
        found = differences(lstm, monkeypatch, seed)
        if not lstm.exceeded:
            compared += 1
            problems += filter(None, [found])
    assert not problems, "\n".join([f"{len(problems)} of {compared} layers differ", *problems[:5]])
    assert compared > count // 2


def test_every_byte_is_tflms_with_the_limit_that_it_has(monkeypatch, pytestconfig):
    problems, explained = [], 0
    for seed in range(pytestconfig.getoption("--cases") or CASES):
        problems += filter(None, [differences(LimitedLstm(), monkeypatch, seed)])
        explained += bool(differences(Lstm(), monkeypatch, seed))
    assert not problems, "\n".join([f"{len(problems)} layers differ", *problems[:5]])
    assert explained, "TFLM does what CMSIS-NN does: remove what README.md says of the LSTM"


@pytest.mark.parametrize("reverse, cell, bias", [(True, 0, 0), (False, 1, 0), (False, 0, 1)])
def test_what_tflite_cannot_express_is_refused(reverse, cell, bias):
    graph = layer(0)
    (node,) = graph.nodes
    node.attrs = LstmAttrs(reverse=reverse)
    node.inputs[2].data[:] = cell
    node.inputs[6].data[:] = bias
    with pytest.raises(Inexpressible, match="an LSTM"):
        tflite_model(graph)
