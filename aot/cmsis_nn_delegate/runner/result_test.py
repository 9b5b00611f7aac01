import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.runner.result import CallTime, MemoryUse, Output, RunnerError, parse_report

RUN = "##RUN core=cortex-m55 isa=mve kernels=portable executor=standalone revision=dbf45dbf\n"
INIT = "##INIT error=0 ticks=120 runtime_bytes=12 arena_bytes=20464\n"
STACK = "##STACK bytes=812\n"
EXIT = "\n##EXIT rc=0##\n"


def _out(data: bytes, set: int = 0, index: int = 0, with_data: bool = True) -> str:
    text = f"##OUT set={set} index={index} bytes={len(data)} crc={zlib.crc32(data):08x}"
    return text + (f" data={data.hex()}\n" if with_data else "\n")


def test_whole_report():
    report = (
        "boot noise\n" + RUN + INIT
        + "##EXEC set=0 error=0 ticks=5000\n##CALL set=0 call=0 opcode=1 ticks=900\n"
        + "##CALL set=0 call=1 opcode=7 ticks=100\n" + _out(b"abc") + _out(b"xy", index=1, with_data=False)
        + "##EXEC set=1 error=0 ticks=5001\n" + _out(b"def", set=1) + STACK + EXIT
    )  # fmt: skip
    result = parse_report(report)
    assert result.info.core == "cortex-m55" and result.info.kernels == "portable"
    assert (result.init_ticks, result.runtime_bytes, result.arena_bytes) == (120, 12, 20464)
    assert result.stack_bytes == 812
    first, second = result.executions
    assert first.calls == [CallTime(0, 1, 900), CallTime(1, 7, 100)]
    assert first.outputs == [Output(0, 3, zlib.crc32(b"abc"), b"abc"), Output(1, 2, zlib.crc32(b"xy"), None)]
    assert (second.set, second.ticks, second.outputs[0].data) == (1, 5001, b"def")


def test_calls_without_an_opcode():
    report = RUN + INIT + "##EXEC set=0 error=0 ticks=9\n##CALL set=0 call=0 ticks=5\n" + STACK + EXIT
    assert parse_report(report).executions[0].calls == [CallTime(0, None, 5)]


def test_memory_of_the_executor():
    memory = "##MEMORY method=260 planned=496 temp=20464 objects=180\n"
    assert parse_report(RUN + INIT + memory + STACK + EXIT).memory == MemoryUse(260, 496, 20464, 180)
    assert parse_report(RUN + INIT + STACK + EXIT).memory is None
    with pytest.raises(RunnerError, match="cannot read"):
        parse_report(RUN + INIT + "##MEMORY method=260\n" + STACK)


@given(st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=8))
def test_outputs_survive(outputs):
    report = RUN + INIT
    for i, data in enumerate(outputs):
        report += f"##EXEC set={i} error=0 ticks={i}\n" + _out(data, set=i)
    result = parse_report(report + STACK + EXIT)
    assert [execution.outputs[0].data for execution in result.executions] == outputs


def test_windows_line_ends():
    assert parse_report((RUN + INIT + STACK + EXIT).replace("\n", "\r\n")).executions == []


@pytest.mark.parametrize(
    "report, message",
    [
        ("", "no ##RUN line"),
        ("##EXIT rc=111##\n", "exit code 111"),
        (RUN, "no ##INIT line"),
        (RUN + INIT, "no ##STACK line: the run stopped after 0 executions"),
        (RUN + INIT + "##EXEC set=0 error=0 ticks=1\n", "stopped after 1 executions"),
        (RUN + "##INIT error=0 ticks=x runtime_bytes=1 arena_bytes=1\n" + STACK, "cannot read"),
        (RUN + INIT + "##EXEC set=0\n", "cannot read"),
        (RUN + INIT + _out(b"abc"), "cannot read"),  # before any execution
        ("##RUN core=cortex-m4\n", "cannot read"),
    ],
)
def test_incomplete(report, message):
    with pytest.raises(RunnerError, match=message):
        parse_report(report)


def test_errors_of_the_device_are_explained():
    init = "##INIT error=48 ticks=3 runtime_bytes=0 arena_bytes=0\n"
    with pytest.raises(RunnerError, match="refused the payload: .*instruction set.*0x30") as info:
        parse_report(RUN + init + "##ERROR error=48 init() refused the payload\n\n##EXIT rc=1##\n")
    assert info.value.error == 48
    with pytest.raises(RunnerError, match="truncated or damaged") as info:
        parse_report(RUN + init.replace("48", "35"))  # the line after it got lost
    assert info.value.error == 35


def test_garbled_output():
    with pytest.raises(RunnerError, match="output 0 of set 0 was garbled"):
        parse_report(RUN + INIT + "##EXEC set=0 error=0 ticks=1\n" + _out(b"abc").replace("616263", "616264"))
