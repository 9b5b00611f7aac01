"""ExecuTorch's Inspector opens a profile of every call, from the host runtime and from a device."""

from __future__ import annotations

import pytest
from executorch.devtools.inspector import TimeScale

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.format.opcodes import Opcode
from cmsis_nn_delegate.partition.backend import CmsisNnBackend
from cmsis_nn_delegate.runner import etdump
from cmsis_nn_delegate.runner.host import load_library
from cmsis_nn_delegate.runner.result import CallTime, Execution, RunInfo, RunResult
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.executorch.executor import needs_executor
from tools.executors.profiling import compile_with_record, inspector, profile_on_device

make_torch_faster()

NETWORK, CORE = "resnet8", "cortex-m4"
LIBRARY = "runtime/libcmsis_nn_delegate.so"

# The PyTorch operators that an operator of the payload came from.
ATEN = {
    Opcode.CONV2D: "aten.convolution.default",
    Opcode.FULLY_CONNECTED: "aten.linear.default",
    Opcode.FULLY_CONNECTED_PER_TENSOR: "aten.linear.default",
    Opcode.ADD: "aten.add.Tensor",
    Opcode.SOFTMAX: "aten._softmax.default",
    Opcode.QUANTIZE: "quantized_decomposed.quantize_per_tensor.default",
    Opcode.DEQUANTIZE: "quantized_decomposed.dequantize_per_tensor.default",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return compile_with_record(NETWORK, CORE, tmp_path_factory.mktemp("recorded"))


def delegate_events(found):
    """Returns the delegate's events in order, by execution."""
    blocks = [block for block in found.event_blocks if block.name == "Execute"]
    return [[event for event in block.events if event.is_delegated_op] for block in blocks]


def check(events, recorded):
    assert [int(event.delegate_debug_identifier) for event in events] == list(range(len(recorded.payload.calls)))
    for event, call in zip(events, recorded.payload.calls):
        assert event.delegate_backend_name == CmsisNnBackend.__name__
        assert event.debug_handles
        if call.opcode in ATEN:
            assert ATEN[call.opcode] in event.op_types, (call.opcode, event.op_types)


def test_host_runtime(recorded, tmp_path):
    from executorch.extension.pybindings.portable_lib import _load_for_executorch

    load_library(LIBRARY)
    module = _load_for_executorch(str(recorded.pte), enable_etdump=True)
    for _ in range(3):
        module.forward([recorded.input])
    dump = tmp_path / "host.etdump"
    module.write_etdump_result_to_file(str(dump), str(tmp_path / "debug"))
    (events,) = delegate_events(inspector(recorded, dump, TimeScale.NS))  # equal runs become one block
    check(events, recorded)
    assert all(len(event.perf_data.raw) == 3 and min(event.perf_data.raw) >= 0 for event in events)


@pytest.mark.parametrize("program", [False, pytest.param(True, marks=needs_executor)], ids=["standalone", "executorch"])
def test_device(recorded, tmp_path, program):
    report, counts, uart = profile_on_device(recorded, CORE, program=program)
    dump = tmp_path / "device.etdump"
    dump.write_bytes(etdump.from_report(report, counts))
    (events,) = delegate_events(inspector(recorded, dump))
    check(events, recorded)
    expected = counts[0][1:] if counts else [call.ticks for call in report.executions[0].calls]
    assert [event.perf_data.raw for event in events] == [[count] for count in expected]
    opcodes = [None if program else call.opcode for call in recorded.payload.calls]
    assert [call.opcode for call in report.executions[0].calls] == opcodes

    # From what the device printed alone, as from a board, times are its ticks.
    (tmp_path / "uart.txt").write_text(uart)
    assert main(["etdump", str(tmp_path / "uart.txt"), "-o", str(tmp_path / "uart.etdump")]) == 0
    (events,) = delegate_events(inspector(recorded, tmp_path / "uart.etdump"))
    check(events, recorded)
    assert [event.perf_data.raw for event in events] == [[call.ticks] for call in report.executions[0].calls]


def _report(*executions):
    info = RunInfo("cortex-m4", "dsp", "portable", "standalone", "0")
    return RunResult(info, 1, 12, 64, list(executions), 100)


def test_ticks_of_several_executions(recorded, tmp_path):
    count = len(recorded.payload.calls)
    runs = [Execution(run, 1000, [CallTime(call, 1, 10 * run + call) for call in range(count)]) for run in range(2)]
    dump = tmp_path / "ticks.etdump"
    dump.write_bytes(etdump.from_report(_report(*runs)))
    (events,) = delegate_events(inspector(recorded, dump))
    assert [event.perf_data.raw for event in events] == [[call, 10 + call] for call in range(count)]


def test_reports_that_are_no_profile(tmp_path, capsys):
    (tmp_path / "uart.txt").write_text("hello\n")
    assert main(["etdump", str(tmp_path / "uart.txt"), "-o", str(tmp_path / "a.etdump")]) != 0
    assert "uart.txt" in capsys.readouterr().err
    with pytest.raises(ValueError, match="run a profile image"):
        etdump.from_report(_report(Execution(0, 10)))
    with pytest.raises(ValueError, match="2 counts for the 1 calls of execution 0"):
        etdump.from_report(_report(Execution(0, 10, [CallTime(0, 1, 5)])), [[10, 5, 5]])
