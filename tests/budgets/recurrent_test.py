"""What recurrent layers take, in instructions for each multiplication with everything that an inference takes, is what
docs/reference/recurrent_layers.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.ops.gru import Gru, GruAttrs
from cmsis_nn_delegate.ops.lstm import Lstm, LstmAttrs
from cmsis_nn_delegate.ops.lstm_projected import LstmProjected, LstmProjectedAttrs
from cmsis_nn_delegate.ops.recurrent import Numbers, Sizes
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE, TUNED
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase
from tests.end_to_end.vectors import differing_bytes, firmware

SIZES = Sizes(steps=100, batch=1, inputs=64, hidden=64)
LAYERS = {
    "LSTM": (Lstm, LstmAttrs(cell_bits=12), Numbers()),
    "LSTM with a projection": (LstmProjected, LstmProjectedAttrs(cell_bits=12), Numbers()),
    "GRU": (Gru, GruAttrs(), Numbers()),
    "LSTM in int16": (Lstm, LstmAttrs(cell_bits=12), Numbers(Element.INT16)),
    "GRU in int16": (Gru, GruAttrs(), Numbers(Element.INT16)),
    "LSTM with weights of 4 bits": (Lstm, LstmAttrs(cell_bits=12), Numbers(weights=Element.INT4)),
    "GRU with weights of 4 bits": (Gru, GruAttrs(), Numbers(weights=Element.INT4)),
    "LSTM in int16 with weights of 4 bits": (Lstm, LstmAttrs(cell_bits=12), Numbers(Element.INT16, Element.INT4)),
    "GRU in int16 with weights of 4 bits": (Gru, GruAttrs(), Numbers(Element.INT16, Element.INT4)),
}
KERNELS = {"tuned": TUNED, "CMSIS-NN": CMSIS_NN, "portable": PORTABLE}
CORES = ("cortex-m4", "cortex-m55")
SELECTED = json.loads(Path("runtime/kernels/selected.json").read_text())
# Little of a tuned kernel is compiled; of the others all is, by another compiler perhaps.
ALLOWANCES = {"tuned": 0.01, "CMSIS-NN": 0.1, "portable": 0.1}
PREDICTION = 0.1  # of the compiler, which was fitted to smaller layers
# What the tuned kernels were made for. The sums of a projection are shorter than those of gates, with as much around
# them. With MVE, half as many inputs of int16 are multiplied at a time.
GOALS = {"cortex-m4": 1.7, "cortex-m55": 0.4}
GOALS_INT16 = {"cortex-m4": 1.7, "cortex-m55": 0.5}


def documented() -> list[tuple[str, str, str, float]]:
    """Returns (layer, kernel, core, instructions) of the table."""
    text = Path("docs/reference/recurrent_layers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w ]+) \| ([\w-]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    return [(layer, kernel, core, float(found)) for layer, kernel, *all in rows for core, found in zip(CORES, all)]


def test_the_table_has_the_tuned_kernels():
    assert {(layer, core) for layer, kernel, core, _ in documented() if kernel == "tuned"} == {
        (layer, core) for layer in LAYERS for core in CORES
    }


def graph_of(op, attrs, numbers, **options):
    case, element = RandomCase(1), numbers.activations
    quant = case.quant(2.0 ** (1 - element.bits), 0 if element.is_symmetric else 3, element)
    return case.graph(op.draw_layer(case, attrs, quant, SIZES, numbers=numbers, **options))


def counted(graph, encoded, samples, core):
    """Returns the instructions of an inference for each of `samples`, whose bytes are compared."""
    run = simulate.run(encoded.payload, samples, firmware(core))
    for inputs, outputs in zip(samples, run.outputs, strict=True):
        assert differing_bytes(outputs[0], reference.run(graph, inputs)[0]) == 0
    if run.instructions is None:
        pytest.skip(f"no exact instruction counts: {run.simulator}")
    return run.instructions


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("layer", ["LSTM", "GRU"])
def test_a_sequence_takes_as_many_instructions_as_it_has_steps(layer, core):
    op, attrs, numbers = LAYERS[layer]
    graph = graph_of(op, attrs, numbers, lengths=True)
    encoded = encode(graph, get_target(core))
    assert [call.choice.provider for call in encoded.calls] == [TUNED]
    inputs = random_inputs(graph, 1)[:-1]
    samples = [[*inputs, np.array([steps], graph.inputs[-1].element.numpy)] for steps in (SIZES.steps, 20)]
    whole, part = counted(graph, encoded, samples, core)
    assert encoded.calls[0].choice.instructions(get_target(core)) == pytest.approx(whole, rel=PREDICTION)
    found = whole / OPS[op.name].macs(graph.nodes[0])
    print(f"{layer} of lengths on {core}: {found:.3f} instructions a multiplication; {part / whole:.3f} for a fifth")
    assert found <= GOALS[core]
    # The state, the table of the sigmoid and the zeros after the last step are the rest.
    assert part / whole <= 0.22


@pytest.mark.parametrize("layer, kernel, core, expected", documented())
def test_instructions_of_a_multiplication(layer, kernel, core, expected):
    if kernel == "CMSIS-NN" and not SELECTED["with_cmsis_nn"]:
        pytest.skip(f"the image has portable kernels: {SELECTED['reason']}")
    op, attrs, numbers = LAYERS[layer]
    graph = graph_of(op, attrs, numbers)
    encoded = encode(graph, get_target(core), PayloadOptions(providers=(KERNELS[kernel], PORTABLE)))
    assert [call.choice.provider for call in encoded.calls] == [KERNELS[kernel]]
    (count,) = counted(graph, encoded, [random_inputs(graph, 1)], core)
    assert encoded.calls[0].choice.instructions(get_target(core)) == pytest.approx(count, rel=PREDICTION)
    found = count / OPS[op.name].macs(graph.nodes[0])
    print(f"{layer} of {kernel} on {core}: {found:.3f} instructions a multiplication")
    assert found == pytest.approx(expected, abs=0.005, rel=ALLOWANCES[kernel])
    goals = GOALS if numbers.activations is Element.INT8 else GOALS_INT16
    assert kernel != "tuned" or found <= goals[core]
