"""The text of docs/networks.md."""

from __future__ import annotations

from collections.abc import Mapping

from tests.coverage.network_outcome import NetworkOutcome

_HEAD = """\
<!-- Written by `bazel run //tests/coverage:networks_survey -- --write`. Do not edit. -->
# Networks
Whole networks, compiled for a Cortex-M55. Those without a package are written in `tests/coverage/networks.py`,
small ones of their kind; those of torchvision and timm are the real ones on images of 96x96. Weights and data are
random. "Differing" counts bytes in which ExecuTorch's runtime on the host differs from the integer reference. The
signal to noise ratio (SQNR) to the float network stands beside that of ExecuTorch's XNNPACKQuantizer with the same
samples.

| network | calls | multiplications | arena | payload | differing | SQNR | XNNPACK |
|---|---|---|---|---|---|---|---|
"""


def text(outcomes: Mapping[str, NetworkOutcome]) -> str:
    """Returns the report on all networks, by name."""
    rows = [_row(name, outcome) for name, outcome in outcomes.items() if outcome.whole]
    outside = [f"- `{name}`: {o.work}; {o.reasons[0][:160]}\n" for name, o in outcomes.items() if not o.whole]
    rest = ["\n## Not one call\nThe first reason of each.\n\n", *outside] if outside else []
    return _HEAD + "".join(rows) + "".join(rest)


def line(name: str, outcome: NetworkOutcome) -> str:
    """Returns what became of one network."""
    return _row(name, outcome).strip() if outcome.whole else f"{name}: {outcome.work}; {'; '.join(outcome.reasons)}"


def _row(name: str, o: NetworkOutcome) -> str:
    return (
        f"| {name} | {o.calls} | {o.work.multiplications.total:,} | {o.arena_bytes:,} | {o.payload_bytes:,} | "
        f"{o.differing_bytes} | {o.sqnr:.1f} dB | {o.xnnpack_sqnr:.1f} dB |\n"
    )
