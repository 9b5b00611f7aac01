"""The standalone firmware in the simulator, on every core.

Its payload has every operator once; the expected outputs were computed by the same portable
kernels on the host.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import zlib

import pytest

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.runner.job import JOB_HEADER, JobFlag, Layer, build_job, pack_job
from cmsis_nn_delegate.runner.result import RunnerError, parse_report
from sim import boards, simulator

ALL = boards.cores()
CORES = [] if "ONLY_OTHERS" in os.environ else boards.tested_cores()
# Others, with an image of each: an architecture and an instruction set that the tested ones have not together.
OTHERS = os.environ.get("OTHERS", "").split()
SAMPLES = pathlib.Path("tests/payloads")
ISAS = {isa.name.lower(): isa for isa in schema.Isa}
SCORES_BYTES = 5


def sample(core):
    """(payload for the core, input, [scores, logits])."""
    isa = ALL[core].isa
    outputs = (SAMPLES / f"sample_{isa}.outputs").read_bytes()
    return (
        (SAMPLES / f"sample_{isa}.payload").read_bytes(),
        (SAMPLES / f"sample_{isa}.input").read_bytes(),
        [outputs[:SCORES_BYTES], outputs[SCORES_BYTES:]],
    )


def image_of(core, suffix=""):
    prefix = os.environ["IMAGES_OF_OTHERS"] if core in OTHERS else "runtime/"
    return f"{prefix}{re.sub('[-+.]', '_', core)}{suffix}.elf"


def run(core, job, image=""):
    return simulator.run(image_of(core, image), job=job)


def with_crc(payload):
    """`payload` with its CRC made right again."""
    start, end = schema.HEADER.offset_of("crc32"), schema.HEADER.offset_of("crc32") + 4
    crc = zlib.crc32(payload[:start] + bytes(4) + payload[end:])
    return payload[:start] + crc.to_bytes(4, "little") + payload[end:]


def error_of(core, payload, flags=JobFlag.NONE):
    """The ExecuTorch error that the device reports for `payload`."""
    result = run(core, pack_job(payload, [], flags))
    assert (result.status, result.exit_code) == ("exit", 1), result.explain()
    with pytest.raises(RunnerError) as info:
        parse_report(result.uart)
    return info.value.error


@pytest.mark.parametrize("core", CORES + OTHERS)
def test_same_bytes_as_on_the_host(core):
    payload, inputs, outputs = sample(core)
    flags = JobFlag.VERIFY_CRC | JobFlag.PRINT_OUTPUTS
    result = run(core, build_job(payload, [[inputs]] * 2, flags))
    assert (result.status, result.exit_code) == ("exit", 0), result.explain()
    report = parse_report(result.uart)
    assert (report.info.core, report.info.isa) == (core, ALL[core].isa)
    assert result.core == ALL[core].core or result.core == ALL[core].board.core
    assert report.info.executor == "standalone"
    assert [[o.data for o in e.outputs] for e in report.executions] == [outputs] * 2
    assert report.runtime_bytes == 8 and report.arena_bytes == 640
    assert report.stack_bytes < 2048


@pytest.mark.parametrize("core", CORES + OTHERS)
def test_images_need_only_what_the_target_has(core):
    """The simulated core may have more. An image has the attributes of every object file that is linked into it."""
    path = f"{os.environ.get('ARM_GNU_TOOLCHAIN', '')}/bin:{os.environ['PATH']}"
    readelf = shutil.which("arm-none-eabi-readelf", path=path)
    if readelf is None:
        pytest.skip("arm-none-eabi-readelf is not on PATH")
    printed = subprocess.run([readelf, "-A", image_of(core)], capture_output=True, text=True, check=True).stdout
    tags = dict(re.findall(r"Tag_(\w+): (.*)", printed))
    architecture = {
        "v6S-M": "armv6-m",
        "v7": "armv7-m",
        "v8-M.baseline": "armv8-m.base",
        "v8-M.mainline": "armv8-m.main",
    }
    found = architecture.get(tags["CPU_arch"], f"arm{tags['CPU_arch'].lower()}".replace("mainline", "main"))
    assert found == ALL[core].architecture
    assert ("MVE_arch" in tags) == (ALL[core].isa == "mve")
    assert ("DSP_extension" in tags or found == "armv7e-m") == (ALL[core].isa != "scalar")
    assert not ("+nofp" in core and "FP_arch" in tags)
    assert not ("+nomve.fp" in core and "FP" in tags["MVE_arch"])


@pytest.mark.parametrize("core", CORES)
def test_profile_times_every_call(core):
    payload, inputs, _ = sample(core)
    result = run(core, build_job(payload, [[inputs]]), "_profile")
    report = parse_report(result.uart)
    calls = report.executions[0].calls
    assert [call.call for call in calls] == list(range(schema.HEADER.unpack(payload)["call_count"]))
    assert len({call.opcode for call in calls}) == len(calls) == 11  # each kernel of the sample once
    if result.regions is not None:
        init, execution = result.regions
        assert len(init.children) == 0 and len(execution.children) == len(calls)
        assert sum(child.instructions for child in execution.children) < execution.instructions


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_layers_are_printed_in_profile_images_only(core):
    payload, inputs, outputs = sample(core)
    output = schema.make_ref(schema.BASE_IO + 1)
    last = schema.HEADER.unpack(payload)["call_count"] - 1
    layers = [Layer(0, schema.make_ref(0, 16), 48), Layer(last, output, SCORES_BYTES)]
    job = build_job(payload, [[inputs]] * 2, JobFlag.NONE, layers)
    report = parse_report(run(core, job, "_profile").uart)
    assert [len(set) for set in report.layers] == [2, 2] and len(report.layers[0][0]) == 48
    assert report.layers[0][1] == outputs[0]
    assert parse_report(run(core, job).uart).layers == [[], []]


@pytest.mark.parametrize(
    "layer",
    [
        Layer(0, schema.make_ref(schema.BASE_ARENA, 632), 16),
        Layer(0, schema.make_ref(schema.BASE_ARENA, 0xFFFFFF0), 16),
        Layer(0, schema.make_ref(schema.BASE_IO + 5), 1),
        Layer(0, schema.NO_REF, 1),
    ],
)
def test_layers_outside_of_the_memory(layer):
    payload, inputs, _ = sample("cortex-m4")
    with pytest.raises(RunnerError, match="names layers outside"):
        parse_report(run("cortex-m4", build_job(payload, [[inputs]], layers=[layer]), "_profile").uart)


@pytest.mark.parametrize("core", CORES)
def test_cost_of_the_delegate(core):
    """Validation and dispatch, without kernels: instructions per call."""
    payload, inputs, _ = sample(core)
    result = run(core, build_job(payload, [[inputs]], JobFlag.NULL_KERNELS))
    assert parse_report(result.uart).info.kernels == "null", result.explain()
    if result.regions is None:
        pytest.skip(f"no exact instruction counts: {result.counter_note}")
    init, execution = (region.instructions for region in result.regions)
    # With the overlaps of a call and its multipliers. The small architectures have no long multiplication.
    small = ALL[core].architecture in ("armv6-m", "armv8-m.base")
    assert init <= (820 if small else 460) * 10
    assert execution <= 100 * 10


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_memory_for_a_state(core):
    """No kernel uses it here, but it is there: before the arena."""
    payload, inputs, outputs = sample(core)
    stateful = bytearray(payload)
    struct.pack_into("<I", stateful, schema.HEADER.offset_of("persistent_bytes"), 48)
    result = run(core, build_job(with_crc(bytes(stateful)), [[inputs]], JobFlag.PRINT_OUTPUTS))
    report = parse_report(result.uart)
    assert report.runtime_bytes == 16 + 48 and report.arena_bytes == 640
    assert [o.data for o in report.executions[0].outputs] == outputs
    # More than the board has.
    struct.pack_into("<I", stateful, schema.HEADER.offset_of("persistent_bytes"), 0x0FFFFFF0)
    assert error_of(core, with_crc(bytes(stateful))) == 0x21


@pytest.mark.parametrize("core", CORES)
def test_another_instruction_set(core):
    payload = bytearray(sample(core)[0])
    for isa in schema.Isa:
        if isa != ISAS[ALL[core].isa]:
            payload[schema.HEADER.offset_of("isa")] = isa
            assert error_of(core, with_crc(bytes(payload))) == 0x30


@pytest.mark.parametrize("field", ["format_version", "providers", "revision"])
def test_another_format_or_revision(field):
    payload = bytearray(sample("cortex-m4")[0])
    if field == "providers":  # of the same number of them
        payload[schema.HEADER.offset_of("providers")] <<= 3
    else:
        payload[schema.HEADER.size if field == "revision" else schema.HEADER.offset_of(field)] ^= 8
    assert error_of("cortex-m4", bytes(payload)) == 0x30


@pytest.mark.parametrize("size", [0, 4, 63, 64, 200, 2048, -1])
def test_truncated(size):
    payload = sample("cortex-m55")[0]
    assert error_of("cortex-m55", payload[:size]) == 0x23


def test_damaged_weight():
    """Only the CRC can see it; without it the result differs."""
    payload, inputs, outputs = sample("cortex-m7")
    at = schema.HEADER.unpack(payload)["constants_offset"] + 5
    damaged = payload[:at] + bytes([payload[at] ^ 0x40]) + payload[at + 1 :]
    assert error_of("cortex-m7", damaged, JobFlag.VERIFY_CRC) == 0x23
    result = run("cortex-m7", build_job(damaged, [[inputs]], JobFlag.PRINT_OUTPUTS))
    assert [o.data for o in parse_report(result.uart).executions[0].outputs] != outputs


def test_no_job():
    result = run("cortex-m4", None)
    assert result.exit_code == 1
    with pytest.raises(RunnerError, match="no job in the mailbox"):
        parse_report(result.uart)


def test_inputs_of_another_size():
    payload, inputs, _ = sample("cortex-m4")
    job = pack_job(payload, [inputs + bytes(16)])
    with pytest.raises(RunnerError, match="input sets have another size"):
        parse_report(run("cortex-m4", job).uart)


def test_job_beyond_the_mailbox():
    job = bytearray(pack_job(sample("cortex-m4")[0], [bytes(16)]))
    at = JOB_HEADER.offset_of("payload_bytes")
    job[at : at + 4] = (1 << 30).to_bytes(4, "little")
    with pytest.raises(RunnerError, match="larger than the mailbox"):
        parse_report(run("cortex-m4", bytes(job)).uart)
