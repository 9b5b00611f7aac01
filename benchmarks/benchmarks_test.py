"""Measures a small network on simulated cores, and compares the committed documents with each other."""

import dataclasses
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from benchmarks import anchors, boards, chart, comparison, cycles, decoding, main, markdown, sparse_section
from benchmarks.anchors import STREAMING
from benchmarks.direct.direct import CORES, NETWORKS, Direct
from benchmarks.flash.flash import Flash
from benchmarks.formats import CALIBRATING, OTHERS, format_of, measure_formats, merged
from benchmarks.measure import CHOICES, PROVIDERS, Images, compilers, measure
from benchmarks.networks import Network, Source, names, source
from benchmarks.results import Results, read_results
from benchmarks.sparse import FOUR_BITS, measure_sparse
from benchmarks.text import millions
from benchmarks.weights import measure_weights
from cmsis_nn_delegate.graph.tensor_type import Quant
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.runner import profile_text
from cmsis_nn_delegate.runner.profile import random_inputs
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from tests.coverage.network_presets import FORMATS, MIXED, MORE

DOCS = Path("docs")
ANCHORS = anchors.load()
IMAGES = Images()


def network(name="ds_cnn"):
    builder = GraphBuilder()
    x = builder.conv2d(builder.input(1, 8, 8, 8), 8, (3, 3), clamp=Clamp(0.0))
    graph = builder.graph(builder.softmax(builder.fully_connected(x, 4)))
    return Network(name, "random", graph, tuple(random_inputs(graph)), {})


@pytest.fixture(scope="module")
def measured():
    """Of the images that this test has."""
    found = [
        measure(network(), core, providers, IMAGES)[0]
        for core, providers in (("cortex-m4", "tuned"), ("cortex-m4", "portable"), ("cortex-m55", "tuned"))
    ]
    direct = (Direct("ds_cnn", "cortex-m4", "random", 10, 1000, 16, 0),)
    choice = dataclasses.replace(found[0], choice="--prefer flash", inference=found[0].inference + 1_000)
    flash = (Flash("ds_cnn", "cortex-m4", "tuned", 18_000, 34_000),)
    torch.manual_seed(0)
    layer = torch.nn.Linear(80, 4)
    sets = [(torch.randn(1, 80),) for _ in range(8)]
    formats, _ = measure_formats(Source("ds_cnn", "random", layer, sets[:4], sets[4:]), ["cortex-m4"], IMAGES, print)
    environment = IMAGES.environment("QEMU", "cortex-m4")
    sizes = (measure_weights(network()),)
    left_out = ("cmsis-nn: not here",)
    modelled = (cycles.Modelled("ds_cnn", "random", "cortex-m55", "tuned", 100, (110, 120), "LLVM 19.1.7"),)
    pruned = tuple(measure_sparse(network()))
    return Results(
        environment, tuple(found), direct, (choice,), flash, tuple(formats), sizes, left_out, modelled, pruned
    )


def test_calls_and_executor_are_the_inference_and_all_bytes_are_right(measured):
    for m in measured.measurements:
        assert m.inference == m.executor + sum(call.instructions for call in m.calls)
        assert m.multiplications == sum(call.multiplications for call in m.calls) > 0
        assert m.differing == 0
        assert m.arena >= m.bound > 0 < m.payload


def test_cycles_are_modelled_for_m4_only(measured):
    for m in measured.measurements:
        if m.core == "cortex-m4":
            low, high = m.cycles
            # Nearly all instructions take a cycle or more.
            assert 0.95 * m.inference < low < high < 3 * m.inference
            text = markdown.render(measured, ANCHORS)
            assert f"{low / 1e6:.3f} to {high / 1e6:.3f}" in text
            least, most = m.flash_waits
            assert 0 < least < most and m.code_waits < m.flash_waits
            assert f"{(low + least) / 1e6:.3f} to {(high + most) / 1e6:.3f}" in text
        else:
            assert (m.cycles, m.flash_waits, m.code_waits) == (None, None, None)


def test_rows_have_the_kernels_of_their_providers(measured):
    tuned, portable, _ = measured.measurements
    assert {call.provider for call in portable.calls} == {"portable"}
    assert any(call.provider == "tuned" for call in tuned.calls)
    assert tuned.inference < portable.inference


def test_differing_bytes_are_counted(monkeypatch):
    """A comparison that cannot find a difference would be worthless."""
    from cmsis_nn_delegate import reference

    run = reference.run
    monkeypatch.setattr(reference, "run", lambda *arguments: [x ^ np.int8(1) for x in run(*arguments)])
    found, _ = measure(network(), "cortex-m4", "tuned", IMAGES)
    assert found.differing == 4


def test_json_has_everything(measured):
    assert read_results(measured.to_json()) == measured
    with pytest.raises(ValueError, match="results of version 0, not 3: measure again"):
        read_results(measured.to_json().replace('"schema": 3', '"schema": 0'))


def test_other_systems_stand_next_to_what_was_measured(measured):
    text = comparison.render(measured, ANCHORS)
    for entry in ANCHORS.counted:
        assert (f"| {entry.inference:,} |" in text) == (entry.network == "ds_cnn")
    for m in measured.measurements:
        if m.core == "cortex-m4":
            assert f"| {m.inference:,} | {m.inference / 10:.1f} % |" in text  # direct calls take 1,000
    for m in measured.measurements:
        for entry in ANCHORS.counted:
            if (m.network, m.core, m.providers) == (entry.network, entry.core, "tuned"):
                assert f" {entry.inference / m.inference:.2f} |" in text and f" {entry.ram / m.arena:.2f} |" in text
    for entry in ANCHORS.published:
        assert f" {entry.megacycles:.2f} |" in text


def test_formats_are_exact_each_in_its_own_way(measured):
    assert [f.format for f in measured.formats] == list(FORMATS)
    int8, int16, w4, mixed = measured.formats
    assert (int8.io, int16.io) == ("int8", "int16") and int16.arena > int8.arena
    assert 15 < int8.sqnr < int16.sqnr and w4.corrected == w4.sqnr < int8.sqnr
    # The search kept its limit on all of so few samples.
    assert mixed.sqnr >= int8.sqnr + MORE - 0.1 and mixed.chosen and not int8.chosen
    assert not any(f.differing for f in measured.formats)
    text = markdown.render(measured, ANCHORS)
    for f in measured.formats:
        factor = f.inference / int8.inference
        name = f"{f.format}: {f.chosen}" if f.chosen else f.format
        assert f"| ds_cnn | {name} | {f.io} | {f.inference:,} | {factor:.2f} |" in text
        assert f"| {f.sqnr:.1f} dB | {f.corrected:.1f} dB | 0 |" in text
        assert f.inference < f.cycles[0] < f.in_ram[0] < f.in_flash[0]
        assert f"| {millions(f.in_ram)} | {millions(f.in_flash)} |" in text


def test_formats_without_cycles_have_no_columns_for_them(measured):
    """Rows of results from before cycles of formats were measured stay readable."""
    unknown = {"cycles": None, "flash_waits": None, "code_waits": None}
    formats = tuple(dataclasses.replace(f, **unknown) for f in measured.formats)
    older = dataclasses.replace(measured, formats=formats)
    assert read_results(older.to_json()) == older
    assert "weights of 4 bits take more" not in markdown.render(older, ANCHORS).lower()
    assert "weights of 4 bits take more" in markdown.render(measured, ANCHORS).lower()


def test_a_format_that_is_measured_again_keeps_the_others(measured):
    before = [dataclasses.replace(f, network=name) for name in ("a", "b") for f in measured.formats]
    now = [dataclasses.replace(f, arena=1) for f in before if f.format == MIXED]
    found = list(merged(before, now, [MIXED], ["a", "b"]))
    assert [(f.network, f.format) for f in found] == [(f.network, f.format) for f in before]
    assert [f.arena == 1 for f in found] == [f.format == MIXED for f in before]
    # Of one network, it keeps the other.
    found = list(merged(before, now[1:], FORMATS, ["b"]))
    assert found == [f for f in before if f.network == "a"] + now[1:]


def test_sizes_of_weights_in_formats_that_fit_them():
    builder = GraphBuilder()
    x = builder.fully_connected(builder.input(1, 64), 32)
    few = builder.graph(x)
    weight = few.nodes[0].inputs[1]
    # Half of them 0, and others that four bits hold.
    weight.data = np.tile(np.int8([0, -8, 0, 7]), (32, 16))
    found = measure_weights(Network("few", "random", few, (), {}))
    assert (found.nbytes, found.zeros, found.bitmap, found.four_bits) == (2048, 0.5, 0.625, 0.5)
    assert found.palette == (32 + 16) / 64 and found.entropy == pytest.approx(1.5 / 8, abs=1e-3)


def test_pruned_weights_stand_beside_what_is_built(measured):
    """Figures in the text are those of the columns."""
    text = sparse_section.section(measured, ["ds_cnn"])
    found = sparse_section.smallest(measured.sparse, "ds_cnn")
    (weights,) = measured.weights
    for title, form in found.items():
        assert f"| {title} |" in text
        assert f" {100 * form.nbytes / weights.nbytes:.1f} % |" in text and f"| {form.sqnr:.1f} |" in text
        for m in measured.measurements:
            if m.providers == "tuned":
                assert f" {1 + form.instructions[m.core] / m.inference:.2f} |" in text
    half = 100 * found["50 % pruned"].nbytes / weights.nbytes
    assert f"no form beats w4: {half:.0f} % for" in " ".join(text.split())
    assert sparse_section.section(measured, ["resnet8"]) == ""


def linear(values):
    """A network of one linear layer with these weights, of one scale."""
    builder = GraphBuilder()
    graph = builder.graph(builder.fully_connected(builder.input(1, values.shape[1]), len(values)))
    weight = graph.nodes[0].inputs[1]
    weight.data = values
    weight.retype(quant=Quant((0.5,) * len(values), 0, 0))
    return Network("linear", "random", graph, (), {})


def test_bytes_of_pruned_weights_and_palettes():
    """By hand: no figure of a document is compared with anything else."""
    rows, columns = 32, 64
    found = list(measure_sparse(linear(np.tile(np.arange(1, columns + 1, dtype=np.int8), (rows, 1)))))
    sizes = {(s.form, s.kept): s.nbytes for s in found}
    # Half of the weights are those of the last half of a row, with 32 others before them.
    assert sizes["bitmap", 0.5] == rows * (columns // 8 + 32)
    assert sizes["gaps", 0.5] == rows * (2 + 1.5 * (32 + 2))
    assert sizes["offsets", 0.25] == rows * (1 + 2 * 16)
    assert sizes["two of four", 0.5] == rows * columns * 5 / 8
    assert sizes["blocks", 0.25] == rows * (2 + 5 * 4)
    assert sizes["palette of 16", 1] == rows * (columns / 2 + 16)
    assert sizes["palette of 2", 1] == rows * (columns / 8 + 2)
    squares = np.arange(1, columns + 1) ** 2
    sqnr = {(s.form, s.kept): s.sqnr for s in found}
    assert sqnr["bitmap", 0.5] == round(10 * np.log10(squares.sum() / squares[:32].sum()), 1)
    assert sqnr["palette of 16", 1] > sqnr["palette of 4", 1] > sqnr["palette of 2", 1]
    # A layer that no form makes smaller stays as it is.
    small = [s for s in measure_sparse(linear(np.int8([[1, 2, 3]]))) if s.form.startswith("palette")]
    assert {(s.nbytes, s.sqnr, s.instructions["cortex-m4"]) for s in small} == {(3, 100, 0)}


def test_a_palette_has_the_values_that_the_weights_have():
    values = np.tile(np.int8([-90, 3, 3, 70]), (16, 16))
    found = {s.form: s.sqnr for s in measure_sparse(linear(values))}
    assert found["palette of 16"] == found["palette of 4"] == 100 > found["palette of 2"]


@pytest.mark.parametrize("core", decoding.DENSE)
def test_a_form_pays_below_its_break_even_or_is_decoded(core):
    """Estimates and the table of loops would say different things if one of them forgot a part of a loop."""
    for form in decoding.FORMS:
        for windows, limit in zip((1, decoding.WINDOWS), decoding.break_even(form, core)):
            layer = decoding.Layer(1000, windows)
            if limit == 0:
                assert layer.change(form, core, 0.01)[0] > 0
                continue
            assert layer.change(form, core, limit)[0] == pytest.approx(0, abs=1e-6)
            assert layer.change(form, core, limit / 2)[0] < 0 < layer.change(form, core, 2 * limit)[0]
        # For many windows, decoding once costs less than a slower loop.
        change, scratch = decoding.Layer(1000, 100_000).change(form, core, 1.0)
        assert scratch == (0 if limit > 1 else 1000)
        assert limit > 1 or change == 1000 * decoding.FORMS[form][core].decode(1.0)


def test_a_format_that_a_network_cannot_have_is_left_out_with_its_reason():
    class Rounded(torch.nn.Module):
        def forward(self, x):
            return torch.fft.fft(x).real

    sets = [(torch.randn(1, 8),)]
    found, left_out = measure_formats(Source("rounded", "random", Rounded(), sets, sets), ["cortex-m4"], IMAGES, print)
    assert not found and len(left_out) == len(FORMATS)
    assert left_out[1].startswith("rounded in int16: rounded is not one delegate call: ")
    assert list(map(format_of, left_out)) == list(FORMATS) and format_of("cmsis-nn: it is not here") == ""


def test_markdown_shows_what_was_measured(measured):
    text = markdown.render(measured, ANCHORS)
    for m in measured.measurements:
        assert f" {m.inference:,} |" in text
    assert "| ds_cnn | cortex-m4 | 18,000 | 34,000 | 52,000 |" in text
    for m in (measured.measurements[0], *measured.choices):
        assert f"| {f'`{m.choice}`' if m.choice else 'default'} | {m.inference:,} | {m.arena:,} |" in text
    assert "- Weights: random." in text and "cmsis-nn: not here" in text
    assert "are not cycles" in text


def test_the_chart_has_a_bar_of_the_right_length_for_each_figure(measured):
    svg = ElementTree.fromstring(chart.draw(measured, ANCHORS))
    name = "{http://www.w3.org/2000/svg}"
    groups = svg.findall(f"{name}g")
    found = [(g.findall(f"{name}text")[0].text, float(g.find(f"{name}rect").get("width"))) for g in groups]
    wanted = [bar for core in ("cortex-m4", "cortex-m55") for bar in chart.bars(measured, ANCHORS, core, "ds_cnn")]
    assert [label for label, _ in found] == [bar.label for bar in wanted]
    m4 = chart.bars(measured, ANCHORS, "cortex-m4", "ds_cnn")
    longest = max(bar.instructions for bar in m4)
    for bar, (_, width) in zip(m4, found):
        assert width == pytest.approx(max(w for _, w in found) * bar.instructions / longest, abs=0.1)


def test_anchors_are_complete():
    assert len(ANCHORS.counted) == 2 * 2 * 4 and len(ANCHORS.published) == 9 * 4 + 3
    assert {*ANCHORS.networks, STREAMING} <= set(names())
    for system, about in ANCHORS.about_counted.items():
        assert re.search(r"Measured in \d{4}-\d\d\.$", about), system
    assert re.search(r"Looked up in \d{4}-\d\d\.$", ANCHORS.about_published)


def test_what_cannot_be_measured_is_left_out_with_its_reason(monkeypatch):
    monkeypatch.setattr(main, "Images", lambda: without)
    without = Images()
    without.with_cmsis_nn, without.reason = False, "its sources were not found"
    with pytest.raises(
        UserError, match="cmsis-nn: the firmware has no kernels of CMSIS-NN: its sources were not found"
    ):
        main.run(["ds_cnn"], [], ["cmsis-nn"], None)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--networks", "nothing"], "unknown network 'nothing'; choose from ds_cnn"),
        (["--cores", "cortex-a5"], "unknown core 'cortex-a5'; choose from cortex-m0plus"),
        (["--providers", "fast"], "unknown provider 'fast'; choose from tuned, cmsis-nn, portable"),
        (["--networks", ","], "no network is named"),
        (["--write", "--formats", "--networks", "nothing"], "unknown network 'nothing'"),
        (["--write", "--formats", "int4"], "unknown format 'int4'; choose from int8, int16, w4, mixed"),
        (["--networks", "ds_cnn", "--weights", "nowhere"], "ds_cnn_kws.npz does not exist"),
    ],
)
def test_what_is_wrong_is_said(capsys, arguments, message):
    assert main.main(arguments) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--write", "--networks", "ds_cnn"], ["--write", "--formats", "--sizes"]])
def test_parts_of_what_is_written_are_one_at_a_time(arguments):
    """Else a part of the results would replace all of them."""
    with pytest.raises(SystemExit):
        main.main(arguments)


def test_compilers_by_their_comments(tmp_path):
    image = tmp_path / "image.elf"
    image.write_bytes(b"\0GCC: (15:12.2.rel1-1) 12.2.1 20221205\0GCC: (Arm (13.7)) 13.2.1 20231009\0 12.9.1")
    assert compilers(image) == ("GCC 12.2.1", "GCC 13.2.1")


# The committed documents ----------------------------------------------------


@pytest.fixture(scope="module")
def committed():
    return read_results((DOCS / "benchmarks.json").read_text(encoding="utf-8"))


def test_documents_are_those_of_the_committed_results(committed):
    assert (DOCS / "comparison.md").read_text(encoding="utf-8") == comparison.render(committed, ANCHORS), (
        markdown.COMMAND
    )
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert text == markdown.render(committed, ANCHORS, chart="benchmarks.svg"), markdown.COMMAND
    assert (DOCS / "benchmarks.svg").read_text(encoding="utf-8") == chart.draw(committed, ANCHORS), markdown.COMMAND


def test_the_error_of_the_model_is_that_of_programs_on_boards(committed):
    groups = boards.load()
    text = markdown.render(committed, ANCHORS)
    for program in (program for group in groups for program in group.programs):
        least, most = program.modelled
        assert program.instructions < least < most and f"| {program.board / 1e6:.3f} |" in text
    assert 0.9 < boards.error(groups)[0] < boards.error(groups)[1] < 1.1
    assert boards.sentence(groups) in " ".join(text.split())
    assert boards.sentence(groups) in profile_text.M4_MODEL


def test_committed_results_are_whole_and_exact(committed):
    measured = {(m.network, m.core, m.providers) for m in committed.measurements}
    assert {(n, c, p) for n in ANCHORS.networks for c in ("cortex-m4", "cortex-m55") for p in PROVIDERS} <= measured
    assert [(e.network, e.core) for e in committed.direct] == [(n, c) for n in NETWORKS for c in CORES]
    assert not any(e.differing for e in committed.direct)
    flash = {(e.network, e.core, e.providers): e.total for e in committed.flash}
    assert set(flash) == {(n, c, p) for n in NETWORKS for c in CORES for p in ("tuned", "cmsis-nn")}
    # Tuned kernels read larger constants and take less code; three for depthwise convolutions with MVE take 3 KB more.
    assert all(flash[n, c, "tuned"] <= 1.021 * flash[n, c, "cmsis-nn"] for n in NETWORKS for c in CORES)
    formats = {(f.network, f.core) for f in committed.formats if f.format != "int8"}
    assert formats >= {(n, c) for n in ANCHORS.networks for c in ("cortex-m4", "cortex-m55")}
    assert {f.format for f in committed.formats} == set(FORMATS) and not any(f.differing for f in committed.formats)
    for f in (f for f in committed.formats if f.network in ANCHORS.networks):
        # A row, or the reason why there is none.
        place = f"{f.network} in {MIXED}: "
        rows = [r for r in committed.formats if (r.network, r.core, r.format) == (f.network, f.core, MIXED)]
        assert len(rows) + sum(line.startswith(place) for line in committed.left_out) == 1
    # As the texts say that stand above the tables.
    autoencoder = {f.format: f for f in committed.formats if f.network == "autoencoder"}
    int8, int16, w4, _ = (autoencoder[name] for name in FORMATS)
    assert abs(int8.sqnr - int16.sqnr) < 1 and w4.sqnr > int8.sqnr + MORE
    assert w4.sqnr == w4.corrected < int8.corrected < int16.corrected
    assert {w.network for w in committed.weights} >= set(ANCHORS.networks)
    trained = [w for w in committed.weights if w.weights == "trained"]
    assert all(min(w.bitmap, w.four_bits, w.palette) > 0.95 > w.entropy for w in trained)
    if committed.sparse:
        conclusions_hold(committed, [w.network for w in trained])
    assert committed.choices and {m.choice for m in committed.choices} <= set(CHOICES)
    for m in (*committed.measurements, *committed.choices):
        assert m.differing == 0
        assert m.inference == m.executor + sum(call.instructions for call in m.calls)
        assert (m.weights == "trained") == (m.network in ANCHORS.networks)


def conclusions_hold(committed, networks):
    """What the text about pruned weights says of networks, as their figures are now."""
    for network in networks:
        four_bits = next(s for s in committed.sparse if (s.network, s.form) == (network, FOUR_BITS))
        found = sparse_section.smallest(committed.sparse, network)
        halves = [found[title] for title in ("50 % pruned", "2 of 4", "blocks, 50 %")]
        assert all(s.nbytes > four_bits.nbytes and s.sqnr < four_bits.sqnr for s in halves), network
        assert all(found[title].nbytes < four_bits.nbytes for title in ("75 % pruned", "90 % pruned", "blocks, 75 %"))
        assert found["16 values"].nbytes > four_bits.nbytes and found["16 values"].sqnr > four_bits.sqnr, network
        offsets = {s.kept: s.nbytes for s in committed.sparse if (s.network, s.form) == (network, "offsets")}
        assert offsets[0.25] >= four_bits.nbytes, network
    for core in decoding.DENSE:
        limits = {form: decoding.break_even(form, core) for form in decoding.FORMS}
        assert min(limits["blocks"]) > 0.25 > max(limits["bitmap"][0], limits["gaps"][0]), core
        assert max(limits["two of four"]) < 0.5 and all(max(limits[f]) < 1 for f in limits if "palette" in f), core
    assert decoding.break_even("bitmap", "cortex-m55")[0] == 0


def test_a_network_has_the_formats_of_the_document(committed):
    """One that takes seconds: what the compiler makes of it, how exact that is, and what the search chooses."""
    name, core, formats = "text_convolution", "cortex-m4", ("int8", MIXED)
    found, left_out = measure_formats(source(name, None, CALIBRATING, OTHERS), [core], IMAGES, print, formats)
    known = [f for f in committed.formats if (f.network, f.core) == (name, core) and f.format in formats]
    today = IMAGES.environment("QEMU", core)
    # Instructions are those of a compiler and of the kernels that the build has.
    same = [getattr(today, field) == getattr(committed.environment, field) for field in ("compilers", "kernels")]
    counts = {} if all(same) else {"inference": 0, "library": 0, "arena": 0, "payload": 0}
    if not all(same) or not known[0].cycles:
        counts |= {"cycles": None, "flash_waits": None, "code_waits": None}
    assert not left_out and len(found) == len(known) == len(formats)
    for now, then in zip(found, known):
        assert dataclasses.replace(now, **counts) == dataclasses.replace(then, **counts), markdown.COMMAND


def test_the_readme_links_the_document():
    assert "docs/benchmarks.md" in Path("README.md").read_text(encoding="utf-8")


def test_results_of_another_environment_are_not_equal(measured):
    other = dataclasses.replace(measured.environment, kernels="portable")
    assert read_results(dataclasses.replace(measured, environment=other).to_json()) != measured


def test_cycles_by_llvm_stand_beside_those_of_boards(committed):
    """Every core and network of MLPerf Tiny has a range, and what is said of their error is said with every profile."""
    found = {(m.network, m.core, m.providers): m for m in committed.modelled}
    assert set(found) == {
        (n, c, p) for n in (*ANCHORS.networks, STREAMING) for c in cycles.CORES for p in ("tuned", "cmsis-nn")
    }
    for m in found.values():
        assert 0 < m.cycles[0] < m.cycles[1] < 2 * m.instructions
        assert m.weights == ("random" if m.network == STREAMING else "trained")
    measured = {(m.network, m.core, m.providers): m.inference for m in committed.measurements}
    assert all(measured[key] == m.instructions for key, m in found.items() if key in measured)
    published = cycles.load()
    text = " ".join(markdown.render(committed, ANCHORS).split())
    beside = cycles.compared(committed.modelled, published)
    assert len(beside) == sum(len(entry.programs) for entry in published)
    assert all(f"| {c.program.board / 1e6:.3f} | {c.share:.2f} |" in text for c in beside)
    sentences = cycles.sentences(committed.modelled, published)
    assert all(sentence in text for sentence in sentences)
    assert dict(zip(cycles.CORES, sentences, strict=True)) == profile_text.ERRORS
    assert "| resnet8 | cortex-m85 |" in comparison.render(committed, ANCHORS)


def test_a_network_is_compared_by_cycles_for_an_instruction():
    ours = cycles.Modelled("net", "random", "cortex-m33", "cmsis-nn", 100, (110, 120), "LLVM")
    programs = (
        cycles.Program("net", 1000, 1500),
        cycles.Program("kernel", 10, 30, (20, 25)),
        cycles.Program("x", 1, 1),
    )
    found = cycles.compared([ours], [cycles.Published("cortex-m33", "other", "", programs)])
    assert [(c.program.program, c.modelled, c.share) for c in found] == [
        ("net", (1100, 1200), 1.25),
        ("kernel", (20, 25), 1.2),
    ]


def test_cycles_that_cannot_be_modelled_are_left_out_with_the_reason(measured, monkeypatch):
    def without_tools(*_):
        raise UserError("models of cycles need llvm-mca")

    monkeypatch.setattr(cycles, "model_cycles", without_tools)
    for _ in range(2):  # A reason is not repeated.
        measured = main.with_cycles(measured, ["autoencoder", "m5"], ["tuned", "portable"], None, IMAGES)
    assert measured.modelled == () and [line for line in measured.left_out if "cycles" in line] == [
        f"modelled cycles of autoencoder on {core}: models of cycles need llvm-mca" for core in cycles.CORES
    ]
    text = markdown.render(measured, ANCHORS)
    assert "## Cycles by LLVM" not in text and "need llvm-mca" in text
