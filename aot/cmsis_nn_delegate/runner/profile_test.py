"""The counts of calls add up to those of the image without markers, and the text and the trace show them."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.budget import Budget
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.runner import chrome_trace, profile_text, simulate
from cmsis_nn_delegate.runner.profile import CallProfile, Profile, measure, random_inputs
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

RUNTIME = Path("runtime")


def network():
    builder = GraphBuilder()
    x = builder.conv2d(builder.input(1, 8, 8, 8), 8, (3, 3), (1, 1), Padding(1, 1, 1, 1), clamp=Clamp(0.0))
    x = builder.avg_pool2d(builder.add(x, builder.depthwise_conv2d(x, kernel=(1, 1))), (4, 4))
    return builder.graph(builder.softmax(builder.fully_connected(x, 5)))


GRAPH = network()
INPUTS = random_inputs(GRAPH)
CORES = ("cortex-m4", "cortex-m55")
ENCODED = {core: encode(GRAPH, get_target(core)) for core in CORES}


def image(core, suffix="_profile"):
    return RUNTIME / f"{core.replace('-', '_')}{suffix}.elf"


@pytest.fixture(scope="module", params=CORES)
def measured(request):
    encoded = ENCODED[request.param]
    return measure(build_report("net", encoded), encoded.payload, INPUTS, image(request.param))


def test_calls_and_executor_are_the_whole_inference(measured):
    payload = ENCODED[measured.core].payload
    plain = simulate.run(payload, [INPUTS], image(measured.core, ""), verify_crc=False)
    empty = simulate.run(payload, [INPUTS], image(measured.core, ""), null_kernels=True)
    assert [measured.inference] == plain.instructions and measured.init == plain.init_instructions
    # Not from the difference that defines it: from kernels that return at once, in the image without markers.
    assert [measured.executor] == empty.instructions
    assert sum(call.instructions for call in measured.calls) == measured.inference - measured.executor
    assert measured.crc > 8 * len(payload)
    assert not measured.with_markers


def test_modelled_cycles_add_up_like_instructions():
    encoded = ENCODED["cortex-m4"]
    found = measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m4"), cycles=True)
    plain = measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m4"))
    assert [c.instructions for c in found.calls] == [c.instructions for c in plain.calls]
    assert found.inference == plain.inference and plain.cycles is None
    empty = simulate.run(encoded.payload, [INPUTS], image("cortex-m4", ""), null_kernels=True, cycles=True)
    (executor,) = empty.cycles
    # Kernels that return at once take what is missing between the inference and its calls, exactly.
    assert executor == tuple(found.cycles[i] - sum(c.cycles[i] for c in found.calls) for i in (0, 1))
    for call in found.calls:
        low, high = call.cycles
        assert 0.95 * call.instructions < low <= high < 4 * call.instructions
        waits = call.flash_waits
        assert 0 <= waits[0] <= waits[1] < 6 * call.instructions
    # Code and weights do not lie in the caches when they are first used.
    assert 0 < found.flash_waits[0] < found.flash_waits[1]
    assert plain.flash_waits is None
    text = profile_text.render(found)
    assert "{:,} to {:,}".format(*found.flash_waits) in text
    assert f"{found.cycles[0]:,} to {found.cycles[1]:,}" in text and f"{executor[0]:,} to {executor[1]:,}" in text
    assert "modelled cycles" in text and "modelled cycles" not in profile_text.render(plain)


def test_cycles_of_other_cores_are_those_of_blocks(monkeypatch):
    """With a model of one cycle an instruction, or two, in the place of LLVM's, which sim/pricing_test.py tests."""
    from sim import cycles, pricing
    from sim.llvm import Tools
    from sim.qemu import qemu

    def priced(text, elf, core, model, tools):
        assert (elf.stem.removesuffix("_profile"), core) == ("cortex_m55", "cortex-m55")
        lines = [f"{e.event} {e.executed} {e.executed} {2 * e.executed}" for e in pricing.read_steps(text)]
        return pricing.Priced("\n".join(lines), {"vmlava.s8": 1234})

    monkeypatch.setattr(qemu, "priced", priced)
    monkeypatch.setattr(cycles.llvm, "tools", lambda: Tools("", "", "20.1.0"))
    encoded = ENCODED["cortex-m55"]
    found = measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m55"), cycles=True)
    assert found.cycles == (found.inference, 2 * found.inference) and found.flash_waits is None
    assert [c.cycles for c in found.calls] == [(c.instructions, 2 * c.instructions) for c in found.calls]
    text = profile_text.render(found)
    assert f" {found.executor:,} to {2 * found.executor:,}\n" in text and "waits for flash" not in text
    assert "the model that LLVM 20.1.0 has of the core" in text and "one cycle each: 1,234 of vmlava.s8." in text


def test_cycles_of_cores_without_a_model_are_refused(monkeypatch):
    from sim import cycles

    assert cycles.MODELLED_CORES == simulate.MODELLED_CORES
    monkeypatch.setattr(cycles, "MODELLED_CORES", ("cortex-m4",))
    encoded = ENCODED["cortex-m55"]
    with pytest.raises(
        UserError, match=r"cycles are modelled for cortex-m4, and cortex_m55_profile\.elf is for cortex-m55"
    ):
        measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m55"), cycles=True)


def test_calls_are_those_of_the_report(measured):
    report = build_report("net", ENCODED[measured.core])
    assert [(c.kernel, c.provider, c.multiplications) for c in measured.calls] == [
        (c.kernel, c.provider, c.macs) for c in report.calls
    ]
    assert measured.multiplications == report.macs
    layers = [c for c in measured.calls if c.multiplications]
    assert len(layers) == 3
    # An instruction makes at most two multiplications on M4 and 16 on M55.
    most = {"cortex-m4": 2, "cortex-m55": 16}[measured.core]
    assert all(c.instructions * most > c.multiplications for c in layers)


def test_a_call_names_the_modules_it_computes_in_execution_order(measured):
    encoded = ENCODED[measured.core]
    report = build_report("net", encoded)
    sources = ("aten_relu_default", "aten_convolution_default", "quantized_decomposed_quantize_per_tensor_default")
    first = dataclasses.replace(report.calls[0], sources=sources)
    report = dataclasses.replace(report, calls=(first, *report.calls[1:]))
    modules = {"other": "z", "aten_convolution_default": "b.0 (Conv2d)", "aten_relu_default": "a.1 (ReLU)"}
    again = measure(report, encoded.payload, INPUTS, image(measured.core), modules=modules)
    assert again.calls[0].modules == ("b.0 (Conv2d)", "a.1 (ReLU)")
    assert again.calls[0].functions == sources[:2]
    # Everything else repeats exactly.
    assert dataclasses.replace(again.calls[0], modules=(), functions=measured.calls[0].functions) == measured.calls[0]
    assert dataclasses.replace(again, calls=measured.calls) == measured


def test_an_image_without_another_beside_it_says_so(tmp_path):
    alone = tmp_path / "cortex_m4_profile.elf"
    shutil.copy(image("cortex-m4"), alone)
    for path in image("cortex-m4").parent.glob("cortex_m4_profile.*.json"):
        shutil.copy(path, tmp_path)
    encoded = ENCODED["cortex-m4"]
    with_markers = measure(build_report("net", encoded), encoded.payload, INPUTS, alone)
    without = measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m4"))
    assert with_markers.with_markers and with_markers.calls == without.calls
    assert with_markers.executor > without.executor
    assert "includes the code that marks calls" in profile_text.render(with_markers)


def test_images_with_different_kernels_are_refused(monkeypatch):
    run = simulate.run

    def run_rebuilt(payload, inputs, elf, **options):
        result = run(payload, inputs, elf, **options)
        if "_profile" in Path(elf).stem:
            return result
        return dataclasses.replace(result, info=dataclasses.replace(result.info, kernels="others"))

    monkeypatch.setattr(simulate, "run", run_rebuilt)
    encoded = ENCODED["cortex-m4"]
    with pytest.raises(UserError, match="_profile.elf has the kernels .* has others for cortex-m4: build both again"):
        measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m4"))


def test_images_that_mark_no_calls_are_refused():
    encoded = ENCODED["cortex-m4"]
    with pytest.raises(UserError, match="counted 0 calls, the payload has 6: use a profile image, such as //runtime"):
        measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m4", ""))


def test_a_simulator_that_does_not_count_is_refused(monkeypatch):
    from sim import simulator

    run = simulator.run
    monkeypatch.setattr(simulator, "run", lambda *args, **options: run(*args, count=False, **options))
    encoded = ENCODED["cortex-m4"]
    with pytest.raises(UserError, match="does not count instructions exactly"):
        measure(build_report("net", encoded), encoded.payload, INPUTS, image("cortex-m4"))


# The command ----------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The files of a model that the command reads, for cortex-m4."""
    folder = tmp_path_factory.mktemp("compiled")
    encoded = ENCODED["cortex-m4"]
    about = {
        "name": "net",
        "target": "cortex-m4",
        **encoded.options.to_texts(),
        "payload_crc32": build_report("net", encoded).payload_crc32,
    }
    (folder / "net.payload.bin").write_bytes(encoded.payload)
    (folder / "net.graph.npz").write_bytes(serialize.dumps(GRAPH, about))
    (folder / "net.report.json").write_text(build_report("net", encoded).to_json())
    return folder / "net"


def command(capsys, *arguments):
    code = main(["profile", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_the_command_writes_json_and_a_trace(capsys, compiled, tmp_path):
    trace = tmp_path / "new" / "trace.json"
    code, out, err = command(capsys, compiled, "--image", image("cortex-m4"), "--json", "--trace", trace)
    assert code == 0, err
    found = json.loads(out)
    assert (found["schema"], found["unit"], found["core"]) == (1, "instructions", "cortex-m4")
    assert found["executor"] + sum(c["instructions"] for c in found["calls"]) == found["inference"]
    events = json.loads(trace.read_text())["traceEvents"]
    assert next(e for e in events if e["name"] == "inference")["args"]["instructions"] == found["inference"]


def test_the_command_takes_inputs(capsys, compiled, tmp_path):
    data = np.stack([INPUTS[0][0], INPUTS[0][0] // 2])
    np.savez(tmp_path / "x.npz", data)
    code, out, err = command(capsys, compiled, "--image", image("cortex-m4"), "--inputs", tmp_path / "x.npz")
    assert code == 0, err
    assert f"an inference with the first sample of {tmp_path / 'x.npz'} " in out


def test_the_command_judges_a_limit(capsys, compiled):
    code, out, err = command(capsys, compiled, "--image", image("cortex-m4"), "--json", "--max-instructions", "1000")
    found = json.loads(out)  # is printed all the same
    more = found["inference"] - 1000
    assert code == 1 and f"takes {found['inference']:,} instructions, {more:,} more than its limit of 1,000" in err
    largest = max(found["calls"], key=lambda call: call["instructions"])
    assert f"call {largest['index']}, {largest['kernel']} of " in err
    assert f"with {largest['instructions']:,} instructions" in err


@pytest.mark.parametrize(
    "options, message",
    [
        (["--core", "cortex-m55"], "instruction set dsp, such as cortex-m4; cortex-m55 has mve: compile the model"),
        (["--image", "nowhere_profile.elf"], "firmware image nowhere_profile.elf does not exist"),
        (["--core", "cortex-m7"], "no firmware for cortex-m7.*build it with `bazel build //runtime:cortex_m7_profile`"),
        (["--trace", "/proc/no/trace.json"], "/proc/no"),
        (["--inputs", "nowhere.npz"], "nowhere.npz does not exist"),
    ],
)
def test_what_is_wrong_is_said(capsys, compiled, monkeypatch, options, message):
    monkeypatch.setattr(simulate, "find_checkout", lambda: None)
    if options[0] == "--inputs":
        options = [*options, "--image", str(image("cortex-m4"))]
    code, _, err = command(capsys, compiled, *options)
    assert code == 2 and re.search(message, err), err


# Text and trace -------------------------------------------------------------

counts = st.integers(0, 10**9)


@st.composite
def profiles(draw):
    number = draw(st.integers(0, 8))
    calls = tuple(
        CallProfile(
            index=index,
            kernel="conv2d",
            provider="tuned",
            modules=draw(st.sampled_from([(), ("a.0 (Conv2d)", "a.1 (ReLU)")])),
            functions=("aten_convolution_default",),
            inputs=((1, 2),),
            outputs=((1, 3),),
            multiplications=draw(counts),
            instructions=draw(counts),
        )
        for index in range(number)
    )
    executor = draw(st.integers(1, 10**6))
    inference = executor + sum(call.instructions for call in calls)
    return Profile(
        "net", "cortex-m4", "dsp", "tuned", "QEMU", "", draw(counts), draw(counts), inference, executor, False, calls
    )


@settings(deadline=None)
@given(profiles())
def test_an_inference_may_take_as_much_as_its_limit(profile):
    profile_text.require(profile, Budget())
    profile_text.require(profile, Budget(instructions=profile.inference))
    if profile.inference:
        with pytest.raises(UserError, match="1 more than its limit"):
            profile_text.require(profile, Budget(instructions=profile.inference - 1))


@settings(deadline=None)
@given(profiles())
def test_events_of_a_trace_follow_each_other_and_fill_the_inference(profile):
    trace = json.loads(chrome_trace.to_trace(profile))
    assert "1 us of this trace is 1,000 instructions" in trace["otherData"]["unit"]
    init, inference, *parts = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    nanoseconds = [(round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in (init, inference, *parts)]
    assert all(dur == e["args"]["instructions"] for e, (_, dur) in zip((init, inference, *parts), nanoseconds))
    assert nanoseconds[0] == (0, profile.init)
    at = profile.init
    for start, duration in nanoseconds[2:]:
        assert start == at
        at += duration
    assert nanoseconds[1] == (profile.init, at - profile.init)
    assert [e["name"] for e in parts] == [*(f"{c.index} conv2d" for c in profile.calls), "executor"]


@settings(deadline=None)
@given(profiles())
def test_a_line_of_the_text_for_every_call(profile):
    lines = profile_text.render(profile).splitlines()
    title = next(number for number, line in enumerate(lines) if line.startswith("call"))
    rows = lines[title + 1 :]
    assert len(rows) == len(profile.calls) + 2
    for call, row in zip(profile.calls, rows):
        assert f" {call.instructions:,} " in row
        assert ("a.0 a.1" if call.modules else "aten_convolution_default") in row
        assert row.count("#") <= 24
    assert f"{profile.inference:,}" in rows[-1] and "100.0 %" in rows[-1]
