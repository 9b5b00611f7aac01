"""The text of docs/networks.md."""

from __future__ import annotations

from collections.abc import Mapping

from tests.coverage.network_outcome import LARGE, SAMPLES, SETS, NetworkOutcome

_HEAD = f"""\
<!-- Written by `bazel run //tests/coverage:networks_survey -- --write`. Do not edit. -->
# Networks
Whole networks, compiled for a Cortex-M55. Those without a package are written in `tests/coverage/networks.py`,
small ones of their kind but for MLPerf Tiny's streaming_wakeword; those of torchvision and timm are the real ones, on
images of 96x96 (test_vit: 160x160).
Weights and data are random; batch norms have the statistics of such data.

"Differing" counts bytes that differ from the integer reference: on the host, under ExecuTorch's runtime, and on
simulated Cortex-M4 and M55 together, if the boards that are simulated have room for the network.

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


def text(outcomes: Mapping[str, NetworkOutcome]) -> str:
    """Returns the report on all networks, by name."""
    rows = [_row(name, outcome) for name, outcome in outcomes.items() if outcome.whole]
    outside = [f"- `{name}`: {o.work}; {o.reasons[0][:160]}\n" for name, o in outcomes.items() if not o.whole]
    rest = ["\n## Not one call\nThe first reason of each.\n\n", *outside] if outside else []
    return _HEAD + "".join(rows) + _lower(outcomes) + "".join(rest)


def _lower(outcomes: Mapping[str, NetworkOutcome]) -> str:
    """Names the networks whose results are further from float than XNNPACK's, with the same outputs."""
    differences = {name: o.int8_sqnr - o.sqnr for name, o in outcomes.items() if o.whole}
    found = [f"`{name}` by {difference:.1f} dB" for name, difference in differences.items() if difference > 1]
    return f"\nLower than the last column by more than 1 dB: {', '.join(found) or 'none'}.\n"


def line(name: str, outcome: NetworkOutcome) -> str:
    """Returns what became of one network."""
    return _row(name, outcome).strip() if outcome.whole else f"{name}: {outcome.work}; {'; '.join(outcome.reasons)}"


def _row(name: str, o: NetworkOutcome) -> str:
    simulated = "no room" if o.simulated_bytes is None else o.simulated_bytes
    return (
        f"| {name} | {o.calls} | {o.work.multiplications.total:,} | {o.arena_bytes:,} | {o.payload_bytes:,} | "
        f"{o.differing_bytes} | {simulated} | {o.sqnr:.1f} dB | {o.xnnpack_sqnr:.1f} dB | {o.int8_sqnr:.1f} dB |\n"
    )
