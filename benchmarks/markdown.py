"""Results as Markdown: `render`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from benchmarks import boards, cycles, sparse_section
from benchmarks.anchors import Anchors
from benchmarks.formats import OTHERS, SEARCHED, format_of
from benchmarks.measure import PROVIDERS, Measurement
from benchmarks.results import Results
from benchmarks.text import listed, millions, table, total
from tests.coverage.network_presets import MIXED, MORE, PRESETS

COMMAND = "bazel run //benchmarks -- --write"
_ROWS = {
    "tuned": "tuned kernels, else CMSIS-NN's",
    "cmsis-nn": "CMSIS-NN's kernels",
    "portable": "portable kernels",
}


def render(results: Results, anchors: Anchors, chart: Optional[str] = None) -> str:
    """Returns the document. `chart` is the path of the chart from the document, None for no chart."""
    parts = [_head(results), _networks_table(results)]
    if chart:
        parts.insert(1, f"![Instructions of an inference]({chart})\n")
    parts += [
        _flash_sizes_table(results),
        _cycles_table(results),
        _flash_table(results, anchors),
        _boards(results),
        cycles.section(results.modelled, cycles.load()),
        _choices_table(results),
        _formats_table(results),
        _weights_table(results),
        sparse_section.section(results, [w.network for w in results.weights if w.weights == "trained"]),
    ]
    parts.append(_calls(results, anchors.networks))
    return "\n".join(part for part in parts if part)


def _head(results: Results) -> str:
    environment = results.environment
    names = _networks(results.measurements)
    trained = [name for name in names if _weights(results, name) == "trained"]
    weights = (
        "random" if not trained else "trained" if trained == names else f"trained for {listed(trained)}, else random"
    )
    lines = [
        f"<!-- Written by `{COMMAND}`. Do not edit. -->",
        "# Benchmarks",
        "Executed instructions of one inference, counted exactly in a simulator. **They are not cycles**: how long an",
        "instruction takes depends on the core and on its memories.",
        "",
        f"- Simulator: {environment.simulator}.",
        f"- Firmware: {', '.join(environment.compilers)}, kernels {environment.kernels}.",
        f"- CMSIS-NN: {environment.cmsis_nn.rstrip('.')}.",
        f"- Weights: {weights}.",
        "- Inputs and outputs are int8; networks that read indices, of words for example, have float outputs.",
        '- "Differing" counts bytes of the outputs that differ from the integer reference.',
        "- `init` is without the check of the payload's CRC, which an image may leave out. The payload is the model's",
        "  flash. The bound is the largest live set: no plan of the arena can take less.",
        "- [comparison.md](comparison.md) has other systems next to these figures.",
    ]
    if results.left_out:
        lines += ["- Left out:", *(f"  - {line}" for line in results.left_out)]
    return "\n".join(lines) + "\n"


def _networks_table(results: Results) -> str:
    lines = ["## Measured here now"]
    for core in cores(results.measurements):
        found = [m for m in results.measurements if m.core == core]
        providers = [p for p in PROVIDERS if any(m.providers == p for m in found)]
        titles = ["network", "multiplications", *(f"instructions, {p}" for p in providers)]
        titles += ["per multiplication", "init", "arena", "bound", "payload", "differing"]
        rows = []
        for name in _networks(found):
            of_network = {m.providers: m for m in found if m.network == name}
            # What the compiler takes by default, if that was measured.
            first = next(of_network[p] for p in providers if p in of_network)
            rows.append(
                [
                    name,
                    f"{first.multiplications:,}",
                    *(f"{of_network[p].inference:,}" if p in of_network else "-" for p in providers),
                    f"{first.inference / first.multiplications:.2f}" if first.multiplications else "-",
                    f"{first.init:,}",
                    f"{first.arena:,}",
                    f"{first.bound:,}",
                    f"{first.payload:,}",
                    f"{sum(m.differing for m in of_network.values())}",
                ]
            )
        lines += [f"### {core}", *table(titles, rows), ""]
    lines.append(
        f"Instructions a multiplication, init and sizes are those of the first column ({_ROWS[providers[0]]}); "
        "differing bytes are those of all columns together.\n"
    )
    return "\n".join(lines)


def _flash_sizes_table(results: Results) -> str:
    providers = list(dict.fromkeys(entry.providers for entry in results.flash))
    if not providers:
        return ""
    rows = []
    for network, core in dict.fromkeys((entry.network, entry.core) for entry in results.flash):
        of_image = {e.providers: e for e in results.flash if (e.network, e.core) == (network, core)}
        found = [of_image[p] for p in providers if p in of_image]
        rows.append([network, core, *(f"{size:,}" for e in found for size in (e.code, e.payload, e.total))])
    titles = [f"{what}, {p}" for p in providers for what in ("code", "payload", "sum")]
    return "\n".join(
        [
            "## Flash of an image with one network, bytes",
            "Read from linked images without ExecuTorch's runtime: [benchmarks/flash](../benchmarks/flash/README.md).",
            "Code is that of the kernels which the network calls, of the delegate, and of the libraries that they use,",
            "without start-up code and the board's. The weights are random, so that no channel is left out.",
            "",
            *table(["network", "core", *titles], rows),
            "",
        ]
    )


def _cycles_table(results: Results) -> str:
    modelled = [m for m in results.measurements if m.cycles]
    if not modelled:
        return ""
    providers = [p for p in PROVIDERS if any(m.providers == p for m in modelled)]
    rows = []
    for name in _networks(modelled):
        of_network = {m.providers: m.cycles for m in modelled if m.network == name}
        rows.append([name, *(millions(of_network.get(p)) for p in providers)])
    return "\n".join(
        [
            "## Modelled cycles of a Cortex-M4, millions",
            "The least and the most that the timings in Arm's reference manual of the core allow for the executed",
            "instructions: [sim/qemu/m4_timing.h](../sim/qemu/m4_timing.h) has the sources and says what lies",
            "between the two (taken branches, divisions, loads from the code, and others). Memory has no wait",
            "states here; the next table has those of a chip, and the one after it says how far the model is from a",
            "board. Other cores' manuals have no such timings: [their models](#cycles-by-llvms-models-millions) are",
            "those of LLVM.",
            "",
            *table(["network", *providers], rows),
            "",
        ]
    )


def _flash_table(results: Results, anchors: Anchors) -> str:
    modelled = [m for m in results.measurements if m.flash_waits and m.network in anchors.networks]
    if not modelled:
        return ""
    providers = [p for p in PROVIDERS if any(m.providers == p for m in modelled)]
    first = providers[0]
    rows = []
    for name in _networks(modelled):
        of_network = {m.providers: total(m.cycles, m.flash_waits) for m in modelled if m.network == name}
        in_ram = next(
            (total(m.cycles, m.code_waits) for m in modelled if (m.network, m.providers) == (name, first)), None
        )
        rows.append([name, millions(in_ram), *(millions(of_network.get(p)) for p in providers)])
    return "\n".join(
        [
            "## With the flash of an STM32L4R5 at 120 MHz, millions of cycles",
            "The modelled cycles and what the chip's flash adds to them, at least and at most: 5 wait states, behind",
            "caches of 1 KiB for instructions and 256 bytes for data. Code and its constants lie in flash; the payload",
            "does too, or lies in RAM where the column says so, and then the image copies it there when it starts.",
            "[sim/qemu/m4_flash.h](../sim/qemu/m4_flash.h) has the source, and what its manual leaves open. Nearly",
            "all waits are for weights: each convolution reads its weights once for every two pixels of its output,",
            "and the chip's 256 bytes hold few of them. A payload in RAM has no such waits, and with",
            "`--max-flash-growth` (below) there are fewer of them, because there are fewer products.",
            "[The comparison](comparison.md) has what others have published of this core.",
            "",
            *table(["network", f"{first}, payload in RAM", *providers], rows),
            "",
        ]
    )


def _boards(results: Results) -> str:
    return boards.section(boards.load()) if any(m.cycles for m in results.measurements) else ""


def _choices_table(results: Results) -> str:
    """Returns what options of the compiler change, each network's default first."""
    if not results.choices:
        return ""
    lines = [
        "## What options of the compiler change",
        "`--prefer ram` computes layers at the arena's peak in bands of rows, `--max-flash-growth BYTES` gives",
        "3x3 convolutions Winograd's algorithm, and `--prefer flash` takes the smallest form of each call. An",
        "option that changes nothing has no row. Cycles, in millions, are those of the table above.",
        "",
    ]
    rows = []
    for core, name in dict.fromkeys((m.core, m.network) for m in results.choices):
        default = [m for m in results.measurements if (m.core, m.network, m.providers) == (core, name, "tuned")]
        for m in (*default, *(m for m in results.choices if (m.core, m.network) == (core, name))):
            cycles = [millions(total(m.cycles, waits)) for waits in (m.code_waits, m.flash_waits)]
            option = f"`{m.choice}`" if m.choice else "default"
            figures = (m.inference, m.arena, m.payload, m.differing)
            rows.append([name, core, option, *(f"{figure:,}" for figure in figures[:3]), *cycles, str(figures[3])])
    titles = ["network", "core", "options", "instructions", "arena", "payload"]
    titles += ["cycles, payload in RAM", "cycles, payload in flash", "differing"]
    return "\n".join([*lines, *table(titles, rows), ""])


def _formats_table(results: Results) -> str:
    """Returns what the formats of numbers change, each network's first format first."""
    if not results.formats:
        return ""
    lines = [
        "## Formats of numbers",
        f"Each network with all of its layers in one format, as `--quantizer` says it: {listed(list(PRESETS))}",
        "([what they are](guides/quantization_and_accuracy.md)). Beside the kernels that the compiler takes by default",
        "stand those of CMSIS-NN, with portable ones for what it lacks. What an operator lacks in a format it computes",
        "in int8, and such conversions are included. The factors are those to the first row of the network.",
        "",
        f"The rows `{MIXED}` have the formats that [the compiler chooses](guides/quantization_and_accuracy.md"
        "#the-compiler-chooses-formats)",
        f"for a {cycles.name(results.formats[0].core)} when it is asked for {MORE:g} dB, a bit, more than int8 has:",
        f"`--min-sqnr`, on {SEARCHED} of the samples that did not calibrate. It may also choose weights of 4 bits and",
        "float32. Where no formats are as exact as that, there is no row, and the list at the top says why.",
        *_not_searched(results),
        "",
        f"SQNR is that of the outputs, on {OTHERS} samples that did not calibrate. The second SQNR is with",
        "`bias_correction`, which w4 has by itself and the other presets have not: it takes back by how much rounded",
        "weights shift the mean of what a layer computes. The samples are random numbers, also for trained networks.",
        "So the outputs of the autoencoder are nearly the same for all of them, and such shifts are nearly all of its",
        "noise: that is why w4 has less of it than int8 and int16, until these have the correction, too.",
        "",
        "On a Cortex-M4, convolutions of int8 add up two channels with one multiplication: a weight of 16 bits is that",
        "of one channel and 256 times that of another. Products of 16-bit activations have no bits left for a second",
        "channel, so that int16 stays behind by what int8 gains there.",
        "",
    ]
    lines += _cycles_of_formats(results)
    for core in dict.fromkeys(f.core for f in results.formats):
        rows = []
        modelled = any(f.cycles for f in results.formats if f.core == core)
        for name in dict.fromkeys(f.network for f in results.formats if f.core == core):
            of_network = [f for f in results.formats if (f.core, f.network) == (core, name)]
            first = of_network[0]
            for f in of_network:
                library = f"{f.library:,}" if f.library is not None else "-"
                rows.append(
                    [
                        f.network,
                        f"{f.format}: {f.chosen}" if f.chosen else f.format,
                        f.io,
                        f"{f.inference:,}",
                        f"{f.inference / first.inference:.2f}",
                        library,
                        *((millions(f.in_ram), millions(f.in_flash)) if modelled else ()),
                    ]
                    + [f"{f.arena:,}", f"{f.payload:,}", f"{f.payload / first.payload:.2f}"]
                    + [f"{f.sqnr:.1f} dB", f"{f.corrected:.1f} dB", str(f.differing)]
                )
        titles = ["network", "format", "inputs, outputs", "instructions", "factor", "CMSIS-NN's kernels"]
        titles += ["cycles, payload in RAM", "cycles, payload in flash"] if modelled else []
        titles += ["arena", "payload", "factor", "SQNR", "SQNR, biases corrected", "differing"]
        lines += [f"### {core}", *table(titles, rows), ""]
    return "\n".join(lines)


def _cycles_of_formats(results: Results) -> list[str]:
    """Returns what the cycles of formats are, and where weights of 4 bits take fewer than those of 8."""
    modelled = {(f.network, f.format): f for f in results.formats if f.in_ram and f.in_flash}
    pairs = [
        (f, modelled[name, "int8"])
        for (name, form), f in modelled.items()
        if form == "w4" and (name, "int8") in modelled
    ]
    if not pairs:
        return []

    def fewer(place: str, end: int) -> str:
        names = [w4.network for w4, int8 in pairs if getattr(w4, place)[end] < getattr(int8, place)[end]]
        return "all networks" if len(names) == len(pairs) > 1 else listed(names) if names else "no network"

    least, most = fewer("in_flash", 0), fewer("in_flash", 1)
    return [
        "Cycles, in millions, are those of [the flash of an STM32L4R5](#with-the-flash-of-an-stm32l4r5-at-120-mhz"
        "-millions-of-cycles),",
        "at least and at most, of which the most is the better guess. Weights of 4 bits take more instructions than",
        "those of 8, and wait half as often for flash. With the payload in flash, w4 takes fewer cycles than int8 for",
        f"{least} by the least, and for {most} by the most; with the payload in RAM for {fewer('in_ram', 0)}",
        f"by the least, and for {fewer('in_ram', 1)} by the most.",
        "",
    ]


def _not_searched(results: Results) -> list[str]:
    """Returns a line about networks of which it is not known what the compiler chooses."""
    known = {f.network for f in results.formats if f.format == MIXED}
    known |= {line.partition(" in ")[0] for line in results.left_out if format_of(line) == MIXED}
    names = [name for name in dict.fromkeys(f.network for f in results.formats) if name not in known]
    return [f"The compiler was not asked for {listed(names)}."] if names else []


def _weights_table(results: Results) -> str:
    """Returns what formats would save that keep the weights of int8 as they are."""
    if not results.weights:
        return ""
    rows = []
    for w in results.weights:
        parts = (w.zeros, w.bitmap, w.four_bits, w.palette, w.entropy)
        rows.append([w.network, w.weights, f"{w.nbytes:,}", *(f"{100 * part:.1f} %" for part in parts)])
    return "\n".join(
        [
            "## What other formats of the same weights would take",
            "Weights of int8 after equal, zero and unread channels are gone, and the part of their bytes that they",
            "would take if they were stored without a loss: as a bit for each weight and a byte for each that is not",
            "0; in four bits where a layer's weights fit; in four bits with a table of 16 values for each row; and as",
            "the shortest code for single weights that there is, which a kernel would decode bit by bit. None of these",
            "is built: for the trained networks only the last saves as much as a twentieth, and weights of four bits",
            "take half. A bitmap beats that where more than 62.5 % of the weights are 0, which training has to bring",
            "about: the next section has what that would be worth." if results.sparse else "about.",
            "",
            *table(["network", "weights", "bytes", "zeros", "bitmap", "four bits", "palettes", "entropy"], rows),
            "",
        ]
    )


def _calls(results: Results, networks: Sequence[str]) -> str:
    """Returns the calls of what the compiler takes by default."""
    lines = ["## Calls", "`benchmarks.json` has those of all networks and providers.", ""]
    for m in results.measurements:
        if m.network not in networks or m.providers != "tuned":
            continue
        rows = [
            [
                str(index),
                call.kernel,
                call.provider,
                call.module,
                f"{call.multiplications:,}",
                f"{call.instructions:,}",
                f"{100 * call.instructions / m.inference:.1f} %",
            ]
            for index, call in enumerate(m.calls)
        ]
        rows.append(["", "executor", "", "", "", f"{m.executor:,}", f"{100 * m.executor / m.inference:.1f} %"])
        titles = ["call", "kernel", "provider", "module", "multiplications", "instructions", "share"]
        lines += [
            f"<details><summary>{m.network} on {m.core}</summary>",
            "",
            *table(titles, rows),
            "",
            "</details>",
            "",
        ]
    return "\n".join(lines)


def cores(measurements: Iterable[Measurement]) -> list[str]:
    return list(dict.fromkeys(m.core for m in measurements))


def _networks(measurements: Iterable[Measurement]) -> list[str]:
    return list(dict.fromkeys(m.network for m in measurements))


def _weights(results: Results, network: str) -> str:
    return next(m.weights for m in results.measurements if m.network == network)
