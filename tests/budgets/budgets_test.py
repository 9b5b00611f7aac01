"""Limits of what the runtime costs without its kernels, on real images and payloads.

Executed instructions come from the simulator's exact count and sizes from the images' size reports, so limits can be
asserted. The limits hold for every core; pytest -s prints the figures.
"""

from __future__ import annotations

import json

import pytest

from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.providers.registry import kernels
from cmsis_nn_delegate.providers.tuned.kernels import IMPLEMENTATIONS
from cmsis_nn_delegate.runner.job import JobFlag, build_job
from cmsis_nn_delegate.runner.result import parse_report
from cmsis_nn_delegate.targets.target import get_target
from sim import simulator
from sim.boards import cores, tested_cores
from tests.end_to_end.vectors import NETWORKS, artifact, firmware, load_vectors

CORES = tuple(tested_cores())

DISPATCH_PER_CALL = 100  # instructions per call in addition to the kernel's
INIT_DS_CNN = 12_300  # instructions without the CRC: checks of the structure, and 8 per channel for 588 channels
RUNTIME_FLASH = 2600  # bytes on M4: delegate, payload reader, dispatch, and what all checks share
# Bytes on M4 for each kernel: the checks of its calls, which are linked only with it. Those of recurrent layers have up
# to nine operands.
CHECKS_FLASH = 268
RECURRENT_FLASH = 530
LENGTHS_FLASH = 620  # of a recurrent layer with sequences of different lengths
PROJECTED_FLASH = 800  # of an LSTM with a projection, which has the most operands
STACK = 2 * 1024  # bytes, of the whole runner

# Bytes of arena including int8 inputs and outputs.
ARENA = {
    "autoencoder": {"scalar": 768, "dsp": 768, "mve": 768},
    "ds_cnn": {"scalar": 8_560, "dsp": 8_896, "mve": 10_320},
    "mobilenet_v1_025": {"scalar": 38_064, "dsp": 37_904, "mve": 39_232},
    "resnet8": {"scalar": 34_160, "dsp": 34_160, "mve": 33_808},
}

# The folders of runtime/ that every firmware with the delegate links, except kernels.
RUNTIME_PARTS = ("runtime/backend", "runtime/payload")
KERNEL_PARTS = ("runtime/kernels/portable", "runtime/kernels/tuned")


def run(network: str, core: str, flags: JobFlag):
    """Returns (result, report) of one execution; skips without exact counts."""
    payload = artifact(network, cores()[core].isa, "payload")
    image = load_vectors(network).inputs[0]
    job = build_job(payload, [[to_bytes(image, decode(payload).inputs[0])]], flags)
    result = simulator.run(firmware(core), job=job)
    assert (result.status, result.exit_code) == ("exit", 0), result.explain()
    if result.regions is None:
        pytest.skip(f"no exact instruction counts: {result.counter_note}")
    return result, parse_report(result.uart)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("network", NETWORKS)
def test_dispatch(network, core):
    result, _ = run(network, core, JobFlag.NULL_KERNELS)
    calls = len(decode(artifact(network, cores()[core].isa, "payload")).calls)
    _, execution = result.regions
    print(f"{network} on {core}: {execution.instructions} instructions, {calls} calls")
    # All of execute() except the kernels, divided by the calls: this is more than dispatch alone.
    assert execution.instructions <= DISPATCH_PER_CALL * calls


@pytest.mark.parametrize("core", [core for core in CORES if cores()[core].isa != "scalar"])
def test_init_of_ds_cnn(core):
    # Includes kernels, because validation asks them for their scratch sizes.
    structural, checked = (
        run("ds_cnn", core, flags)[0].regions[0].instructions for flags in (JobFlag.NONE, JobFlag.VERIFY_CRC)
    )
    nbytes = len(artifact("ds_cnn", cores()[core].isa, "payload"))
    print(f"{core}: {structural} instructions; CRC {(checked - structural) / nbytes:.1f} a byte")
    assert structural <= INIT_DS_CNN
    assert checked > structural + nbytes  # the option does read every byte


@pytest.mark.parametrize("isa", sorted({core.isa for core in cores().values()}))
@pytest.mark.parametrize("network", NETWORKS)
def test_arena(network, isa):
    assert decode(artifact(network, isa, "payload")).arena_bytes == ARENA[network][isa]


def test_flash_of_the_runtime_on_m4():
    """The image links all kernels; with those of the four networks, the runtime takes less than 6 KB."""
    parts = json.loads(firmware("cortex-m4").with_suffix(".size.json").read_text())["flash"]["parts"]
    sizes = {name: parts[name]["total"] for name in RUNTIME_PARTS}
    checks = {name: parts["runtime/payload"]["objects"][name] for name in ("operators.o", "geometry.o")}
    print(sizes, checks)
    assert all(size > 0 for size in (*sizes.values(), *checks.values()))
    assert sum(sizes.values()) - sum(checks.values()) <= RUNTIME_FLASH
    names = [kernel.name for kernel in kernels().values()]
    projected = sum("projected" in name for name in names)
    lengths = sum("lengths" in name and "projected" not in name for name in names)
    assert 0 < lengths <= 28 and 0 < projected <= 10
    recurrent = sum(name.startswith(("gru", "lstm", "rnn")) for name in names) - lengths - projected
    assert 0 < recurrent <= 28
    layers = RECURRENT_FLASH * recurrent + LENGTHS_FLASH * lengths + PROJECTED_FLASH * projected
    others = len(names) - recurrent - lengths - projected
    assert sum(checks.values()) <= CHECKS_FLASH * others + layers
    used = {call.opcode for network in NETWORKS for call in decode(artifact(network, "dsp", "payload")).calls}
    assert RUNTIME_FLASH + CHECKS_FLASH * len(used) <= 6 * 1024


@pytest.mark.parametrize("core", CORES)
def test_images_link_no_kernels_of_other_instruction_sets(core):
    parts = json.loads(firmware(core).with_suffix(".size.json").read_text())["flash"]["parts"]
    # Portable kernels have twins of the tuned ones, and --define kernels=cmsis_nn has neither.
    linked = {name for part in KERNEL_PARTS for name in parts.get(part, {"objects": ()})["objects"]}
    of_isa = {f"{own.kernel.name}.o" for own in IMPLEMENTATIONS if get_target(core).isa in own.isas}
    found = {f"{own.kernel.name}.o" for own in IMPLEMENTATIONS} & linked
    assert found == (of_isa if found else set())


@pytest.mark.parametrize("core", CORES)
def test_stack(core):
    _, report = run("ds_cnn", core, JobFlag.VERIFY_CRC)
    print(f"{core}: {report.stack_bytes} bytes of stack")
    assert 0 < report.stack_bytes <= STACK


@pytest.mark.parametrize("core", CORES)
def test_stack_does_not_grow_with_the_number_of_calls(core):
    """init() and execute() use the same amount of stack for 12 and 30 calls of the same kernels."""
    networks = ("ds_cnn", "mobilenet_v1_025")
    depths = {run(network, core, JobFlag.NULL_KERNELS)[1].stack_bytes for network in networks}
    assert len(depths) == 1
