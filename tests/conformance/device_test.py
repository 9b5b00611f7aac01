"""Integer reference == the kernels of the build on simulated CORE, for every operator, and the scratch of
every call of the test networks == what the linked CMSIS-NN asks for."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.format.record import Role
from cmsis_nn_delegate.format.schema import CALL_HEADER, HEADER, Isa
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE, kernels
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from sim import simulator
from tests.conformance import cases, suite
from tests.conformance.outcome import parse
from tests.end_to_end.vectors import NETWORKS, artifact, load_vectors

CORE = os.environ["CORE"]
TARGET = get_target(CORE)
CASES = 20  # see options.py
IMAGE = Path("tests/conformance") / f"{CORE.replace('-', '_')}.elf"
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())
WITH_SCRATCH = [kernel for kernel in kernels().values() if kernel.args.names_of(Role.SCRATCH)]
TUNED = [name for name, kernel in cases.TUNED.items() if TARGET.isa in kernel.isas]
# Operators whose cases are one suite: simulators take longer to start than most operators to run.
TOGETHER = 8
# Size of a suite; the mailbox has 16 MiB.
SUITE_BYTES = 12 << 20
# Counts are only of use where both simulators run the suite, which must then agree in them too.
COUNT = simulator.selected() in ("both", "every")


def run(chosen):
    outcomes = []
    while chosen:
        count, size = 0, 0
        while count < len(chosen) and size < SUITE_BYTES:
            size += len(suite.pack(chosen[count : count + 1]))
            count += 1
        result = simulator.run(str(IMAGE), job=suite.pack(chosen[:count]), count=COUNT, timeout_s=600)
        assert result.status == "exit", result.explain()
        if " and " in result.simulator:
            assert "equal instruction counts" in result.simulator_note, result.simulator_note
        outcome = parse(result.uart)
        assert (outcome.kernels, outcome.core) == (KERNELS["kernels"], CORE)
        assert outcome.cases == count
        assert outcome.failed == 0, outcome.explain(chosen)
        assert result.exit_code == 0
        outcomes.append(outcome)
        chosen = chosen[count:]
    return outcomes


def groups(operators, prefix=""):
    return [
        pytest.param(operators[first : first + TOGETHER], id=prefix + "+".join(operators[first : first + TOGETHER]))
        for first in range(0, len(operators), TOGETHER)
    ]


def in_parts(operator):
    """Whether other kernels compute some of the operator's calls alone, which run then, too."""
    return bool(cases.TUNED[operator].symbol.functions)


def run_operators(operators, seeds):
    """Returns how many cases ran again with a kernel for some calls alone."""
    providers = cases.providers_of(KERNELS["kernels"])
    chosen = [case for operator in operators for case in cases.cases(operator, seeds, TARGET, providers)]
    return sum(outcome.narrow for outcome in run(chosen))


@pytest.mark.parametrize(
    "operators", (*groups(cases.OPERATORS), *groups([name for name in TUNED if not in_parts(name)], "tuned_"))
)
def test_every_byte_equals_the_reference(operators, seeds):
    run_operators(operators, seeds)


@pytest.mark.parametrize("operator", [pytest.param(name, id=f"tuned_{name}") for name in TUNED if in_parts(name)])
def test_kernels_for_some_calls_alone(operator, seeds):
    assert run_operators([operator], seeds) or not KERNELS["kernels"].startswith("tuned")


@pytest.mark.parametrize("network", NETWORKS)
def test_scratch_of_the_networks_is_what_cmsis_nn_asks_for(network):
    if not KERNELS["with_cmsis_nn"]:
        pytest.skip(f"the image has portable kernels, which need no scratch: {KERNELS['reason']}")
    payload = artifact(network, TARGET.isa.name.lower(), "payload")
    view, vectors = decode(payload), load_vectors(network)
    inputs = (to_bytes(vectors.inputs[0], view.inputs[0]),)
    outputs = (to_bytes(np.asarray(vectors.expected[0]), view.outputs[0]),)
    opcodes = [kernel.opcode for kernel in WITH_SCRATCH]
    calls = sum(call.opcode in opcodes for call in view.calls)
    assert sum(o.scratch_checked for o in run([suite.Case(network, payload, inputs, outputs)])) == calls


def with_less_scratch(name):
    """Returns cases of a kernel that say that a byte less of scratch memory is there than it needs."""
    lies = []
    # A tuned kernel, or one of those of an operator.
    operator = next((op.name for op in OPS.values() if name in [kernel.name for kernel in op.kernels]), name)
    for case in cases.cases(operator, range(8), TARGET):
        calls = [call for call in decode(case.payload).calls if kernels()[call.opcode].name == name]
        if not calls:
            continue  # another kernel of the same operator
        (call,) = calls
        field = call.offset + CALL_HEADER.size + kernels()[call.opcode].args.offset_of("scratch_bytes")
        needed = call.args["scratch_bytes"]
        if needed > 1:
            payload = bytearray(case.payload)
            payload[field : field + 4] = (needed - 1).to_bytes(4, "little")
            lies.append(suite.Case(case.text, bytes(payload), case.inputs, case.outputs))
    return lies


def test_less_scratch_than_the_kernel_uses_is_refused():
    """On the device itself, because sizes depend on the instruction set. The CRC is not checked here."""
    if not KERNELS["with_cmsis_nn"]:
        pytest.skip(f"{KERNELS['kernels']} kernels need no scratch")
    lies = [(kernel.name, case) for kernel in WITH_SCRATCH for case in with_less_scratch(kernel.name)]
    assert len({name for name, _ in lies}) > len(WITH_SCRATCH) / 5  # a core has those of its instruction set
    seen = refusals([case for _, case in lies])
    assert [name for index, (name, _) in enumerate(lies) if index not in seen] == []


def refused(lies) -> int:
    """Returns how many of `lies` the image refuses; it must report wrong bytes for all others."""
    return len(refusals(lies))


def refusals(lies) -> set[int]:
    """Returns the indices of those of `lies` that the image refuses."""
    outcome = parse(simulator.run(str(IMAGE), job=suite.pack(lies), count=False).uart)
    assert outcome.cases == len(lies)
    return {index for index, problem in outcome.problems if "refused" in problem}


def case_of(graph, change=lambda payload: None) -> suite.Case:
    """Returns a case of `graph` with random inputs, without expected outputs; applies `change` to its payload."""
    encoded = encode(graph, TARGET, PayloadOptions(providers=(CMSIS_NN, PORTABLE))).payload
    payload = bytearray(encoded)
    change(payload)
    view = decode(encoded)
    inputs = tuple(to_bytes(x, t) for x, t in zip(networks.random_inputs(graph, 0), view.inputs))
    return suite.Case("made by hand", bytes(payload), inputs, tuple(bytes(t.nbytes) for t in view.outputs))


def set_field(payload: bytearray, offset: int, values: tuple[int, ...]) -> None:
    struct.pack_into(f"<{len(values)}i", payload, offset, *values)


def test_a_payload_without_what_the_kernel_loads_past_its_filter_is_refused():
    def cut(payload):
        for name in ("payload_bytes", "constants_bytes"):
            offset = HEADER.offset_of(name)
            set_field(payload, offset, (struct.unpack_from("<i", payload, offset)[0] - 16,))
        del payload[-16:]

    if not KERNELS["with_cmsis_nn"] or TARGET.isa is not Isa.MVE:
        pytest.skip(f"{KERNELS['kernels']} kernels on {CORE} load nothing past filters")
    graph = networks.parallel_convolutions()
    assert refused([case_of(graph)]) == 0
    assert refused([case_of(graph, cut)]) == 1


def test_a_row_that_is_shorter_than_its_kernel_is_refused_where_the_kernel_cannot():
    """The graph as in the model, not as the compiler rewrites it, with rows and columns exchanged."""
    builder = GraphBuilder()
    graph = builder.graph(builder.conv2d(builder.input(1, 4, 1, 2), 8, kernel=(1, 3), padding=Padding(0, 1, 0, 1)))

    def exchange(payload):
        (call,) = decode(bytes(payload)).calls
        args, layout = dict(call.args), kernels()[call.opcode].args
        for name in ("input_dims", "filter_dims", "output_dims"):
            dims = args[name]
            assert dims["w"] == 1
            args[name] = {**dims, "h": dims["w"], "w": dims["h"]}
        args["params"] = {**args["params"], "padding": {"w": 1, "h": 0}}
        begin = call.offset + CALL_HEADER.size
        payload[begin : begin + layout.size] = layout.pack(args)

    with_rows = KERNELS["with_cmsis_nn"] and TARGET.isa is Isa.MVE
    assert refused([case_of(graph)]) == 0
    assert refused([case_of(graph, exchange)]) == (1 if with_rows else 0)


def test_a_wrong_byte_is_seen():
    right = cases.case("fully_connected", 0, TARGET)
    damaged = bytes([right.outputs[0][0] ^ 1]) + right.outputs[0][1:]
    wrong = suite.Case(right.text, right.payload, right.inputs, (damaged,))
    result = simulator.run(str(IMAGE), job=suite.pack([right, wrong]), count=False)
    outcome = parse(result.uart)
    assert (result.exit_code, outcome.cases, outcome.failed) == (1, 2, 1)
