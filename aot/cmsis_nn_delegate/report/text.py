"""The report as readable text."""

from __future__ import annotations

from collections.abc import Sequence

from ..selection.costs import MEASURED_CORES
from .model_report import IoReport, Report
from .stream_report import stream_lines


def render(report: Report) -> str:
    """Returns the report as text, with a final newline."""
    blocks = [
        [
            f"{report.name} for {report.target} ({report.isa} kernels of CMSIS-NN {report.cmsis_nn[:8]})",
            f"{len(report.calls)} kernel calls, {report.macs:,} multiplications",
            prediction(report),
            f"payload CRC-32 {report.payload_crc32}",
            f"kernels chosen for {report.prefer}",
            *([f"quantizer: {report.quantizer}"] if report.quantizer else []),
        ],
        ["Inputs and outputs", *_io_lines("in", report.inputs), *_io_lines("out", report.outputs)],
        *([_stream_block(report)] if report.stream else []),
        _arena_lines(report),
        _flash_lines(report),
        _call_lines(report),
        *([_price_lines(report)] if any(call.growth_bytes is not None for call in report.calls) else []),
        *(
            [["Left out or rewritten, without a change of any result", *(f"  {line}" for line in report.left_out)]]
            * bool(report.left_out)
        ),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def prediction(report: Report) -> str:
    """Returns about how many instructions the calls take, and how far from the truth that may be."""
    found = report.prediction
    if found.instructions is None:
        missing = [call for call in report.calls if call.predicted_instructions is None]
        names = ", ".join(dict.fromkeys(f"{call.kernel} ({call.provider})" for call in missing))
        return f"instructions not predicted: there is no model for {names} on {report.target}"
    text = f"about {_rounded(found.instructions)} instructions predicted for the calls on {report.target}"
    if found.networks is None or found.median_error is None or found.largest_error is None:
        measured = MEASURED_CORES.get(report.target, report.target)
        return (
            text
            if measured == report.target
            else f"{text}, with the models of {measured}, whose code is nearly the same"
        )
    half, all_of_them = (f"{100 * error:.1f} %" for error in (found.median_error, found.largest_error))
    return (
        f"{text}; of {found.networks} networks that were measured, half were within {half} of the prediction, all "
        f"within {all_of_them}"
    )


def _rounded(count: int) -> str:
    """Returns "3.62 million", "41,200": no more digits than a prediction deserves."""
    if count >= 999_500:
        return f"{float(f'{count / 1e6:.3g}'):g} million"
    return f"{round(count, 3 - len(str(count))):,}"


def shape(dims: Sequence[int]) -> str:
    return "x".join(map(str, dims)) or "scalar"


def table(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """Returns lines with aligned columns: to the left if the column's index is in `left`, else to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def _io_lines(kind: str, tensors: Sequence[IoReport]) -> list[str]:
    lines = []
    for index, tensor in enumerate(tensors):
        parts = [f"{tensor.dtype} {shape(tensor.shape)}", tensor.layout]
        if tensor.scale is not None:
            parts.append(f"real = {tensor.scale:.9g} * (q - {tensor.zero_point})")
        place = "caller's memory" if tensor.arena_offset is None else f"arena+{tensor.arena_offset}"
        lines.append(f"  {kind} {index} {tensor.name}: {', '.join(parts)}, {place}")
    return lines


def _stream_block(report: Report) -> Sequence[str]:
    assert report.stream is not None
    memory = report.arena.nbytes + report.persistent_bytes
    return stream_lines(report.stream, report.prediction.instructions, report.macs, memory)


def _arena_lines(report: Report) -> list[str]:
    arena = report.arena
    verdict = "no plan can take less" if arena.gap == 0 else f"{arena.gap:,} above what any plan needs"
    where = "included" if arena.io_placement == "arena" else "in the caller's memory, not included"
    lines = [
        "RAM",
        f"  arena {arena.nbytes:,} bytes, bound {arena.bound:,}, gap {arena.gap:,}: {verdict}",
        f"  inputs and outputs: {where}",
    ]
    if report.memories:
        rows = [["  memory", "taken", "of", "bound", "peak in call", "touched by an inference"]]
        rows += [
            [
                f"  {m.name}" + (" (arena)" if m.region == "arena" else ""),
                *(f"{n:,}" for n in (m.nbytes, m.limit, m.bound, m.peak_call, m.touched)),
            ]
            for m in report.memories
        ]
        lines += table(rows, left=(0,))
    if report.persistent_bytes:
        lines.append(f"  kept between inferences: {report.persistent_bytes:,} bytes, not included")
    if report.copies:
        c = report.copies
        lines.append(
            f"  copies of constants in {c.memory}: {c.nbytes:,} of {c.room:,} bytes, not included; "
            f"{c.reads / max(c.all_reads, 1):.0%} of what an inference reads of constants"
        )
        lines.append(f"    init() takes about {c.init_instructions:,} instructions to copy them")
    if arena.peak_buffers:
        call = report.calls[arena.peak_call]
        lines.append(f"  call {call.index} ({call.op}) holds the bound, where there live")
        rows = [[f"    {b.name}", f"{b.nbytes:,}", f"arena+{b.offset}"] for b in arena.peak_buffers]
        lines += table(rows, left=(0, 2))
    if arena.in_place:
        lines.append(f"  outputs over inputs: {', '.join(arena.in_place)}")
    if arena.inside:
        lines.append(f"  inside of other tensors: {', '.join(arena.inside)}")
    return lines


def _flash_lines(report: Report) -> list[str]:
    rows = [[f"  {part}", f"{size:,}"] for part, size in report.flash.items()]
    rows.append(["  payload", f"{report.flash_bytes:,}"])
    return ["Flash, bytes", *table(rows, left=(0,))]


def _call_lines(report: Report) -> list[str]:
    rows = [
        [
            *("call", "kernel", "provider", "input", "output", "multiplications", "instructions"),
            *("scratch", "constants", "live", "stored"),
        ]
    ]
    for call in report.calls:
        rows.append(
            [
                str(call.index),
                call.kernel,
                call.provider,
                " ".join(map(shape, call.inputs)),
                " ".join(map(shape, call.outputs)),
                f"{call.macs:,}",
                "not predicted" if call.predicted_instructions is None else f"{call.predicted_instructions:,}",
                f"{call.scratch_bytes:,}",
                f"{call.constant_bytes:,}",
                f"{call.live_bytes:,}",
                " ".join(call.stored),
            ]
        )
    return ["Calls, sizes in bytes, instructions as predicted", *table(rows, left=(1, 2, 3, 4, 10))]


def _price_lines(report: Report) -> list[str]:
    rows = [["call", "kernel", "bytes more", "instructions less, about", "instructions a byte"]]
    for call in report.calls:
        if call.growth_bytes is not None and call.saved_instructions is not None:
            each = f"{call.saved_instructions / max(call.growth_bytes, 1):,.0f}"
            rows.append([str(call.index), call.kernel, f"{call.growth_bytes:,}", f"{call.saved_instructions:,}", each])
    return ["Speed for flash", *table(rows, left=(1,))]
