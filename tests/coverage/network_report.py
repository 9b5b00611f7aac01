"""The text of docs/networks.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

from tests.coverage.network_formats import MOST_SEARCHED, NetworkInFormat
from tests.coverage.network_outcome import IMAGES, LARGE, SAMPLES, SETS, NetworkOutcome
from tests.coverage.network_presets import MORE

_HEAD = f"""\
<!-- Written by `bazel run //tests/coverage:networks_survey -- --write`. Do not edit. -->
# Networks
Whole networks, compiled for a Cortex-M55. Those without a package are written in `tests/coverage/networks.py`,
small ones of their kind but for MLPerf Tiny's streaming_wakeword; those of torchvision and timm are the real ones, on
images of 96x96 (test_vit: 160x160).
Weights and data are random; batch norms have the statistics of such data.

"Differing" counts bytes that differ from the integer reference: on the host, under ExecuTorch's runtime, and on
simulated Cortex-M4 and M55 together.

The signal to noise ratio (SQNR) to the float network stands beside that of ExecuTorch's XNNPACKQuantizer with the
same samples, both with the histogram observers that they have by default. It is the mean over {SETS} sets of
{SAMPLES} samples, each of which calibrates anew: the ratios of sets differ by 1 dB and more. Networks of more than
{LARGE:,} parameters have one set.

XNNPACKQuantizer leaves some functions in float, such as embedding, layer norm, softmax and sigmoid. A device that has
int8 throughout rounds what they return: the rows of an embedding alone, on the scale of the whole table, cost
`text_classifier` 3 dB. So in the last column the same quantizer quantizes these, too, and outputs with the scales
that they have here. Networks are judged by that one.

| network | calls | multiplications | arena | payload | differing, host | simulated | SQNR | XNNPACK | all int8 |
|---|---|---|---|---|---|---|---|---|---|
"""


_FORMATS = f"""
## Formats of numbers
The networks of torchvision and timm with all layers in one format, as `--quantizer` says it, and `mixed`: the formats
that [the compiler chooses](guides/quantization_and_accuracy.md#the-compiler-chooses-formats) for a Cortex-M4, layer by
layer, when it is asked for {MORE:g} dB more than int8 has. Arena and payload are those for a Cortex-M55. Instructions
are counted, with float inputs and outputs. SQNR is that of {SAMPLES} samples which did not calibrate, so that it is not
that of the table above; a search keeps its limit on these. It computes a network hundreds of times, and is left out for
those of more than {MOST_SEARCHED // 10**6} million multiplications. Bytes that differ are those of one sample.
[benchmarks.md](benchmarks.md#formats-of-numbers) has the other networks.

Layers that add up thousands of products may need more than the 32 bits that the tuned kernels of int16 for cores with
DSP can hold. Such layers take slower kernels, so that some factors of cortex-m4 are far above those of small networks;
the report of a network names these layers. A ratio below 0 dB means that a sample which calibrated had far larger
outputs than the others; XNNPACKQuantizer shows the same.

The counts of `mixed` are older than the others, and so the formats that a search would choose may be others now: pools,
first layers, convolutions in groups, depthwise ones of 5 x 5 and large sums of int16 take fewer instructions since, and
searches correct biases. Those of cortex-m4 in other formats are from before look-ups, copies in steps and means took
fewer: networks with these take up to 4 % less.

"""


def text(outcomes: Mapping[str, Union[NetworkOutcome, NetworkInFormat]]) -> str:
    """Returns the report on all networks, by name, and on some in other formats, by "NAME in FORMAT"."""
    networks = {name: o for name, o in outcomes.items() if isinstance(o, NetworkOutcome)}
    formats = {name: o for name, o in outcomes.items() if isinstance(o, NetworkInFormat)}
    rows = [_row(name, outcome) for name, outcome in networks.items() if outcome.whole]
    outside = [f"- `{name}`: {o.work}; {o.reasons[0][:160]}\n" for name, o in networks.items() if not o.whole]
    rest = ["\n## Not one call\nThe first reason of each.\n\n", *outside] if outside else []
    return _HEAD + "".join(rows) + _lower(networks) + "".join(rest) + _formats(formats)


def _formats(outcomes: Mapping[str, NetworkInFormat]) -> str:
    """Returns the section about formats. Factors are those to the first format of a network."""
    if not outcomes:
        return ""
    titles = ["network", "format", *(title for core in IMAGES for title in (core, "factor"))]
    titles += ["arena", "payload", "SQNR", "differing, host", "simulated"]
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    notes = []
    first: dict[str, NetworkInFormat] = {}
    for case, o in outcomes.items():
        network, _, given = case.partition(" in ")
        if o.obstacle:
            notes.append(f"- `{network}` in {given}: {o.obstacle}.")
            continue
        counts, base = o.instructions, first.setdefault(network, o).instructions
        cells = [network, f"{given}: {o.chosen}" if o.chosen else given]
        cells += [cell for core in IMAGES for cell in (f"{counts[core]:,}", f"{counts[core] / base[core]:.2f}")]
        cells += [f"{o.arena_bytes:,}", f"{o.payload_bytes:,}", f"{o.sqnr:.1f} dB"]
        lines.append(f"| {' | '.join([*cells, str(o.differing_bytes), str(o.simulated_bytes)])} |")
    return _FORMATS + "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def summary(outcomes: Mapping[str, Union[NetworkOutcome, NetworkInFormat]]) -> str:
    """Returns the last line on the terminal."""
    networks = [o for o in outcomes.values() if isinstance(o, NetworkOutcome)]
    return f"{sum(o.whole for o in networks)} of {len(networks)} networks are one call"


def _lower(outcomes: Mapping[str, NetworkOutcome]) -> str:
    """Names the networks whose results are further from float than XNNPACK's, with the same outputs."""
    differences = {name: o.int8_sqnr - o.sqnr for name, o in outcomes.items() if o.whole}
    found = [f"`{name}` by {difference:.1f} dB" for name, difference in differences.items() if difference > 1]
    return f"\nLower than the last column by more than 1 dB: {', '.join(found) or 'none'}.\n"


def line(name: str, outcome: Union[NetworkOutcome, NetworkInFormat]) -> str:
    """Returns what became of one network, or of one in a format."""
    if isinstance(outcome, NetworkInFormat):
        return _formats({name: outcome}).rstrip().rpartition("\n")[2]
    return _row(name, outcome).strip() if outcome.whole else f"{name}: {outcome.work}; {'; '.join(outcome.reasons)}"


def _row(name: str, o: NetworkOutcome) -> str:
    return (
        f"| {name} | {o.calls} | {o.work.multiplications.total:,} | {o.arena_bytes:,} | {o.payload_bytes:,} | "
        f"{o.differing_bytes} | {o.simulated_bytes} | {o.sqnr:.1f} dB | {o.xnnpack_sqnr:.1f} dB | "
        f"{o.int8_sqnr:.1f} dB |\n"
    )
