import dataclasses
import re

import pytest

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.budget import Budget
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks

NETWORKS = (networks.ds_cnn, networks.resnet8)


@pytest.fixture(scope="module")
def report():
    return build_report("kws", encode(networks.ds_cnn(), get_target("cortex-m4")))


def test_a_model_may_take_as_much_as_its_limits(report):
    Budget().require(report)
    Budget(arena=report.arena.nbytes, flash=report.flash_bytes).require(report)


def test_an_arena_that_is_too_large_is_explained_by_its_peak(report):
    with pytest.raises(UserError, match="kws exceeds its budget for cortex-m4: the arena takes") as error:
        Budget(arena=report.arena.nbytes - 16, flash=report.flash_bytes).require(report)
    message = str(error.value)
    assert error.value.exit_code == 1
    assert f"{report.arena.nbytes:,} bytes, 16 more than its limit of {report.arena.nbytes - 16:,}" in message
    assert f"call {report.arena.peak_call}, " in message and "--prefer ram" in message and "payload" not in message
    sizes = {(buffer.name, f"{buffer.nbytes:,}") for buffer in report.arena.peak_buffers}
    named = re.findall(r"((?:scratch of )?[^ ,]+) with ([\d,]+) bytes", message)
    assert 0 < len(named) <= 3 and set(named) <= sizes


def test_a_payload_that_is_too_large_is_explained_by_its_constants(report):
    with pytest.raises(UserError) as error:
        Budget(flash=1000).require(report)
    message = str(error.value)
    assert f"the payload takes {report.flash_bytes:,} bytes, {report.flash_bytes - 1000:,} more" in message
    largest = sorted(report.calls, key=lambda call: -call.constant_bytes)[:3]
    found = re.findall(r"call (\d+), .*? with ([\d,]+) bytes", message)
    assert found == [(str(call.index), f"{call.constant_bytes:,}") for call in largest]


def test_too_many_instructions_are_explained_by_the_largest_calls(report):
    predicted = report.prediction.instructions
    Budget(instructions=predicted).require(report)
    with pytest.raises(UserError) as error:
        Budget(instructions=predicted - 1).require(report)
    message = str(error.value)
    assert f"an inference takes {predicted:,} predicted instructions, 1 more than its limit" in message
    largest = sorted(report.calls, key=lambda call: -call.predicted_instructions)[:3]
    found = re.findall(r"call (\d+), .*? with ([\d,]+) instructions", message)
    assert found == [(str(call.index), f"{call.predicted_instructions:,}") for call in largest]


def test_without_a_prediction_no_limit_of_instructions_is_judged(report):
    calls = (dataclasses.replace(report.calls[0], predicted_instructions=None), *report.calls[1:])
    prediction = dataclasses.replace(report.prediction, instructions=None)
    unknown = dataclasses.replace(report, calls=calls, prediction=prediction)
    Budget(arena=report.arena.nbytes).require(unknown)
    with pytest.raises(UserError, match="not known whether cortex-m4 needs more than 9,999.*call 0, ") as error:
        Budget(instructions=9999).require(unknown)
    assert error.value.exit_code == 1 and "cmsisnn profile --max-instructions" in str(error.value)


def test_every_limit_that_is_exceeded_is_named(report):
    with pytest.raises(UserError, match="the arena takes .*the payload takes .*an inference takes"):
        Budget(arena=0, flash=0, instructions=0).require(report)


def test_parts_add_up_but_for_their_arenas():
    parts = [build_report("kws", encode(network(), get_target("cortex-m4"))) for network in NETWORKS]
    arenas = [part.arena.nbytes for part in parts]
    flash, predicted = sum(p.flash_bytes for p in parts), sum(p.prediction.instructions for p in parts)
    Budget(max(arenas), flash, predicted).require(*parts, whole=False)
    with pytest.raises(UserError) as error:
        Budget(max(arenas) - 1, flash - 1, predicted - 1).require(*parts, whole=False)
    arena, payloads, instructions = str(error.value).split("; ")
    fullest = arenas.index(max(arenas))
    assert f"{max(arenas):,} bytes, 1 more" in arena
    assert f"full in part {fullest + 1}, call {parts[fullest].arena.peak_call}, " in arena
    assert f"{flash:,} bytes, 1 more" in payloads
    calls = [(index, call) for index, part in enumerate(parts, 1) for call in part.calls]
    largest = sorted(calls, key=lambda pair: -pair[1].constant_bytes)[:3]
    assert re.findall(r"part (\d+), call (\d+), ", payloads) == [(str(p), str(call.index)) for p, call in largest]
    assert "without operators outside of the delegate" in instructions
    assert f"{predicted:,} predicted instructions, 1 more" in instructions
    largest = sorted(calls, key=lambda pair: -pair[1].predicted_instructions)[:3]
    assert re.findall(r"part (\d+), call (\d+), ", instructions) == [(str(p), str(call.index)) for p, call in largest]


def test_one_part_of_a_model_says_that_other_operators_are_not_counted(report):
    with pytest.raises(UserError, match="an inference, without operators outside of the delegate, takes"):
        Budget(instructions=1).require(report, whole=False)
    with pytest.raises(UserError, match="an inference takes"):
        Budget(instructions=1).require(report)


def test_the_part_that_has_no_prediction_is_named(report):
    call = dataclasses.replace(report.calls[1], predicted_instructions=None)
    calls = (report.calls[0], call, *report.calls[2:])
    prediction = dataclasses.replace(report.prediction, instructions=None)
    unknown = dataclasses.replace(report, calls=calls, prediction=prediction)
    with pytest.raises(UserError, match=r"no prediction: part 2, call 1, [^,]+\. Leave out"):
        Budget(instructions=9999).require(report, unknown, whole=False)


def test_limits_are_not_negative():
    with pytest.raises(UserError, match="the limit of the flash is -1 bytes"):
        Budget(flash=-1)
    with pytest.raises(UserError, match="the limit of an inference is -1 instructions"):
        Budget(instructions=-1)
