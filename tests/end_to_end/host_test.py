"""Integer reference == portable kernels under ExecuTorch's own runtime, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.schema import DelegateCall

from cmsis_nn_delegate.partition.backend import CmsisNnBackend
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.targets.target import TARGET_OF_ISA
from tests.end_to_end.vectors import NETWORKS, artifact, differing_bytes, load_vectors

LIBRARY = "runtime/libcmsis_nn_delegate.so"
ISAS = tuple(TARGET_OF_ISA)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_output_byte_equals_the_reference(network, isa):
    vectors = load_vectors(network)
    assert len(vectors.inputs) == 16
    program = HostProgram(artifact(network, isa, "pte"), LIBRARY)
    channels_last = (0,) if vectors.inputs[0].ndim == 4 else ()
    outputs = [program.run([x], channels_last)[0] for x in vectors.inputs]
    assert differing_bytes(np.stack(outputs), vectors.expected) == 0


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_program_is_one_delegate_call(network, isa):
    (plan,) = deserialize_pte_binary(artifact(network, isa, "pte")).program.execution_plan
    (instruction,) = plan.chains[0].instructions
    assert isinstance(instruction.instr_args, DelegateCall)
    assert [delegate.id for delegate in plan.delegates] == [CmsisNnBackend.__name__]
    assert not plan.operators


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_program_holds_the_payload_that_devices_run(network, isa):
    assert artifact(network, isa, "payload") in artifact(network, isa, "pte")
