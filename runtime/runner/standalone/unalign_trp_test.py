"""What docs/guides/firmware.md says of CCR.UNALIGN_TRP: with it kernels fault, but not those of Armv6-M.

The runtime does not check it, because code without privilege may not read CCR. On M55 this payload
runs; others need not.
"""

import pathlib

import pytest

from cmsis_nn_delegate.runner.job import JobFlag, build_job
from cmsis_nn_delegate.runner.result import parse_report
from sim import boards, simulator

SAMPLES = pathlib.Path("tests/payloads")


def run(core):
    """Returns the result of the payload that has every operator once, and what its outputs should be."""
    isa = boards.cores()[core].isa
    payload, inputs, outputs = (
        (SAMPLES / f"sample_{isa}.{suffix}").read_bytes() for suffix in ("payload", "input", "outputs")
    )
    job = build_job(payload, [[inputs]], JobFlag.PRINT_OUTPUTS)
    image = f"runtime/runner/standalone/{core.replace('-', '_')}_unalign_trp.elf"
    return simulator.run(image, job=job), outputs


@pytest.mark.parametrize("core", ["cortex-m3", "cortex-m4"])
def test_kernels_need_unaligned_accesses(core):
    result, _ = run(core)
    assert result.status == "fault", result.explain()
    assert " cfsr=01000000 " in result.uart  # UsageFault: an access that is not aligned


def test_armv6_kernels_do_not():
    result, outputs = run("cortex-m0plus")
    assert (result.status, result.exit_code) == ("exit", 0), result.explain()
    (execution,) = parse_report(result.uart).executions
    assert b"".join(output.data for output in execution.outputs) == outputs
