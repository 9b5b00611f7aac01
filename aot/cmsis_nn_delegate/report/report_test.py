import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE
from cmsis_nn_delegate.report import text
from cmsis_nn_delegate.report.from_json import report_of
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["arena", "caller"]))
def test_sums_add_up(seed, io_placement):
    encoded = encode(
        networks.random_network(seed), get_target("cortex-m55"), PayloadOptions.of(io_placement=io_placement)
    )
    report = build_report("random", encoded)
    assert sum(report.flash.values()) == report.flash_bytes == len(encoded.payload)
    assert min(report.flash.values()) >= 0
    assert report.arena.bound + report.arena.gap == report.arena.nbytes
    rounded = [-(-b.nbytes // 16) * 16 for b in report.arena.peak_buffers]
    assert sum(rounded) == report.arena.bound
    assert max((call.live_bytes for call in report.calls), default=0) == report.arena.bound
    assert sum(call.macs for call in report.calls) == report.macs
    predicted = [call.predicted_instructions for call in report.calls]
    assert report.prediction.instructions == (None if None in predicted else sum(predicted))
    assert json.loads(report.to_json())["calls"][0]["op"] == encoded.calls[0].node.op
    text.render(report)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["arena", "caller"]))
def test_buffers_are_what_is_alive(seed, io_placement):
    """In every call, the bytes of the live buffers are those that the planner counts."""
    report = build_report(
        "random",
        encode(networks.random_network(seed), get_target("cortex-m55"), PayloadOptions.of(io_placement=io_placement)),
    )
    buffers = [b for b in report.arena.buffers if b.region == "arena"]
    for call in report.calls:
        units = {
            unit
            for b in buffers
            if b.first <= call.index <= b.last
            for unit in range(b.offset // 16, -(-(b.offset + b.nbytes) // 16))
        }
        assert len(units) * 16 == call.live_bytes
    assert max((b.offset + b.nbytes for b in buffers), default=0) <= report.arena.nbytes
    inputs = [b.name for b in buffers if b.kind == "input"]
    assert sorted(inputs) == ([] if io_placement == "caller" else sorted(x.name for x in report.inputs))
    assert {b.call for b in buffers if b.kind == "scratch"} == {c.index for c in report.calls if c.scratch_bytes}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_a_report_is_read_again_as_it_was_written(seed, memories):
    options = {"memories": [Memory("dtcm", 4096), Memory("sram", 1 << 24)]} if memories else {}
    report = build_report(
        "random", encode(networks.random_network(seed), get_target("cortex-m55"), PayloadOptions.of(**options))
    )
    assert report_of(json.loads(report.to_json())) == report


def test_a_report_of_another_version_is_refused():
    document = json.loads(build_report("net", encode(networks.ds_cnn(), get_target("cortex-m4"))).to_json())
    del document["calls"][3]["why"]
    with pytest.raises(UserError, match=r"the report: calls\[3\]\.why is missing; compile the model again"):
        report_of(document)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 4096), min_size=1, max_size=3))
def test_each_memory_is_as_full_as_its_buffers(seed, sizes):
    memories = [*(Memory(f"fast{i}", size) for i, size in enumerate(sizes)), Memory("slow", 1 << 24)]
    report = build_report(
        "random",
        encode(networks.random_network(seed), get_target("cortex-m4"), PayloadOptions(memories=tuple(memories))),
    )
    assert [(m.name, m.limit) for m in report.memories] == [(m.name, m.nbytes) for m in memories]
    assert [m.region for m in report.memories] == [*(m.name for m in memories[:-1]), "arena"]
    alive = [0] * len(report.calls)
    for memory in report.memories:
        buffers = [b for b in report.arena.buffers if b.region == memory.region]
        ends = [-(-(b.offset + b.nbytes) // 16) * 16 for b in buffers]
        assert max(ends, default=0) == memory.nbytes >= memory.bound

        def units(step, buffers=buffers):
            alive = [b for b in buffers if b.first <= step <= b.last]
            return {u for b in alive for u in range(b.offset // 16, -(-(b.offset + b.nbytes) // 16))}

        full = [16 * len(units(call.index)) for call in report.calls]
        assert max(full) == full[memory.peak_call] == memory.bound
        alive = [sum(pair) for pair in zip(alive, full)]
    assert alive == [call.live_bytes for call in report.calls]
    assert report.memories[-1].nbytes == report.arena.nbytes and report.memories[-1].bound == report.arena.bound
    assert "touched by an inference" in text.render(report)


def test_buffers_and_calls_have_the_names_of_modules():
    graph = networks.resnet8()
    sources = [source for node in graph.nodes for source in node.sources]
    encoded = encode(graph, get_target("cortex-m55"))
    modules = {source: f"layer.{number} (Conv2d)" for number, source in enumerate(sources)}
    lines = {source: "model.py:7" for source in sources}
    report = build_report("ic", encoded, "", modules, lines)
    named = [call for call in report.calls if call.sources]
    assert named and all(call.modules and call.lines == ("model.py:7",) for call in named)
    for buffer in report.arena.buffers:
        if buffer.kind in ("tensor", "scratch") and report.calls[buffer.call].sources:
            assert buffer.name.removeprefix("scratch of ") in report.calls[buffer.call].modules
    assert [b.name for b in report.arena.buffers if b.kind == "output"] == ["output"]


def test_multiplications_of_mlperf_tiny():
    """As published for the benchmark's networks (softmax and pooling aside)."""
    macs = {
        network.__name__: build_report("", encode(network(), get_target("cortex-m4"))).macs
        for network in (networks.ds_cnn, networks.resnet8, networks.mobilenet_v1_025, networks.autoencoder)
    }
    assert macs == {
        "ds_cnn": 2_656_768,
        "resnet8": 12_501_632,
        "mobilenet_v1_025": 7_489_664,
        "autoencoder": 264_192,
    }


def test_text_says_what_makes_the_arena_large():
    stock = encode(networks.resnet8(), get_target("cortex-m55"), PayloadOptions(providers=(CMSIS_NN, PORTABLE)))
    report = build_report("ic", stock)
    lines = text.render(report).splitlines()
    assert "  arena 49,728 bytes, bound 49,728, gap 0: no plan can take less" in lines
    assert any("call 2 (conv2d) holds the bound" in line for line in lines)
    assert any(line.startswith("    scratch of conv2d_2 ") and " 576 " in line for line in lines)


def test_text_names_what_overlaps_at_the_peak():
    lines = text.render(build_report("vww", encode(networks.mobilenet_v1_025(), get_target("cortex-m4")))).splitlines()
    at = lines.index("  call 3 (depthwise_conv2d) holds the bound, where there live")
    assert lines[at + 1].split() == ["v2+v3", "36,864", "arena+0"]
    assert lines[at + 2].split() == ["scratch", "of", "depthwise_conv2d_3", "1,040", "arena+36864"]


def test_calls_name_the_kernels_that_a_firmware_links():
    builder = GraphBuilder()
    hidden = builder.fully_connected(builder.input(1, 8), 6, per_tensor=True)
    graph = builder.graph(builder.fully_connected(hidden, 4))
    report = build_report("x", encode(graph, get_target("cortex-m4"), PayloadOptions(providers=(CMSIS_NN, PORTABLE))))
    kernels = ["fully_connected_per_tensor", "fully_connected"]
    assert [call["kernel"] for call in json.loads(report.to_json())["calls"]] == kernels
    assert [call.op for call in report.calls] == ["fully_connected"] * 2
    calls = text.render(report).partition("Calls, sizes in bytes, instructions as predicted\n")[2].splitlines()
    assert [line.split()[1] for line in calls[:3]] == ["kernel", *kernels]


def test_a_gap_is_said(monkeypatch):
    from cmsis_nn_delegate.planner import memory, plan

    def wasteful(intervals, alignment):
        placement = plan.place(intervals, alignment)
        offsets = tuple(offset + 64 for offset in placement.offsets)
        return plan.Placement(offsets, placement.peak + 64, placement.bound)

    monkeypatch.setattr(memory, "place", wasteful)
    report = build_report("x", encode(networks.autoencoder(), get_target("cortex-m4")))
    assert "gap 64: 64 above what any plan needs" in text.render(report)


@pytest.mark.parametrize("io_placement, place", [("arena", "arena+0"), ("caller", "caller's memory")])
def test_text_says_where_io_lies(io_placement, place):
    encoded = encode(networks.autoencoder(), get_target("cortex-m4"), PayloadOptions.of(io_placement=io_placement))
    rendered = text.render(build_report("ad", encoded))
    assert "int8 1x640, row-major" in rendered and place in rendered


def test_the_price_of_speed_is_said():
    graph, target = networks.resnet8(), get_target("cortex-m4")
    assert "Speed for flash" not in text.render(build_report("ic", encode(graph, target)))
    report = build_report("ic", encode(graph, target, PayloadOptions(max_flash_growth=1 << 20)))
    bought = [call for call in report.calls if call.growth_bytes is not None]
    lines = text.render(report).partition("Speed for flash\n")[2].splitlines()[1:]
    assert [line.split()[:3] for line in lines[: len(bought)]] == [
        [str(call.index), "conv2d_winograd", f"{call.growth_bytes:,}"] for call in bought
    ]


@pytest.mark.parametrize(
    "count, text_of_it",
    [(7, "7"), (41_249, "41,200"), (999_499, "999,000"), (999_500, "1 million"), (3_618_400, "3.62 million")],
)
def test_predictions_have_no_more_digits_than_they_deserve(count, text_of_it):
    report = build_report("net", encode(networks.ds_cnn(), get_target("cortex-m4")))
    prediction = dataclasses.replace(
        report.prediction, instructions=count, networks=9, median_error=0.01, largest_error=0.04
    )
    line = text.prediction(dataclasses.replace(report, prediction=prediction))
    assert line == (
        f"about {text_of_it} instructions predicted for the calls on cortex-m4; of 9 networks that were measured, half "
        "were within 1.0 % of the prediction, all within 4.0 %"
    )


@pytest.mark.parametrize("target, measured", [("cortex-m55+nomve", "cortex-m4"), ("cortex-m23", "cortex-m0plus")])
def test_predictions_with_the_models_of_another_core_say_so(target, measured):
    shown = text.prediction(build_report("net", encode(networks.ds_cnn(), get_target(target))))
    assert shown.endswith(
        f"predicted for the calls on {target}, with the models of {measured}, whose code is nearly the same"
    )


def test_calls_without_a_prediction_are_named():
    report = build_report("net", encode(networks.ds_cnn(), get_target("cortex-m4")))
    calls = (dataclasses.replace(report.calls[0], predicted_instructions=None), *report.calls[1:])
    prediction = dataclasses.replace(report.prediction, instructions=None)
    shown = text.render(dataclasses.replace(report, calls=calls, prediction=prediction))
    kernel = calls[0].kernel
    assert f"instructions not predicted: there is no model for {kernel} (tuned) on cortex-m4" in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("   0 ")]
    assert "not predicted" in row
