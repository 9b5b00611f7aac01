"""A profile as readable text."""

from __future__ import annotations

from typing import Optional

from ..report.budget import Budget, largest, over
from ..report.text import shape, table
from ..support.errors import UserError
from .measured import Measured
from .profile import CallProfile, Profile

M4_MODEL = (
    "Executed instructions, and modelled cycles: the least and the most that the Cortex-M4's reference manual allows "
    "with memories without wait states, and what the flash of an STM32L4R5 at 120 MHz adds to them. On a board, "
    "integer programs took 0.95 to 1.03 times the most that the model allows."
)
# How far LLVM's models are from boards: docs/benchmarks.md has the programs.
ERRORS = {
    "cortex-m7": "Of the Cortex-M7, no cycles are known of programs like these.",
    "cortex-m33": "On a Cortex-M33, 4 programs took 1.02 to 1.12 times the most by the model.",
    "cortex-m55": "On a Cortex-M55, 20 programs took 0.78 to 2.82 times the most by the model, and half of them 0.91 "
    "to 1.04 times.",
    "cortex-m85": "On a Cortex-M85, 4 programs took 0.60 to 0.83 times the most by the model.",
}
_BAR = 24  # characters of the longest bar


def render(profile: Profile, measured: Optional[Measured] = None) -> str:
    """Returns a table with one line a call, with a final newline. Bars are relative to the largest call.

    measured: the same calls on a board.
    """
    rows = _with_measured(profile, measured, _with_cycles(profile, _rows(profile)))
    about = f" with {profile.inputs}" if profile.inputs else ""
    lines = [
        f"{profile.name} on {profile.core} ({profile.isa}), kernels {profile.kernels}, {profile.place}",
        about_cycles(profile),
        *([about_board(measured)] if measured else []),
        f"init {profile.init:,}, and {profile.crc:,} to check the CRC; an inference{about} {profile.inference:,}",
        "",
        *table(rows, left=(1, 2, 3, 4, 5, 9)),
    ]
    if profile.with_markers:
        lines += ["", "The executor's line includes the code that marks calls: the image without it was not found."]
    return "\n".join(lines) + "\n"


def about_cycles(profile: Profile) -> str:
    """Returns what the figures of a profile are."""
    if profile.cycles is None:
        return "Executed instructions; these are not cycles."
    if profile.flash_waits is not None:
        return M4_MODEL
    unknown = f" It lacks instructions, which count as one cycle each: {profile.cycle_note}." * bool(profile.cycle_note)
    return (
        "Executed instructions, and modelled cycles: the least and the most by the model that "
        f"{profile.cycle_model} has of the core, with memories without wait states. "
        f"{ERRORS[profile.core.partition('+')[0]]}{unknown}"
    )


def about_board(measured: Measured) -> str:
    """Returns where the cycles of a board come from."""
    return (
        f"Measured cycles: {measured.board}, a {measured.core} with the kernels {measured.kernels}, through "
        f"{measured.through}, on {measured.date}; the executor's include the code that marks calls."
    )


def require(profile: Profile, budget: Budget) -> None:
    """UserError says by how much the inference exceeds the limit of instructions, with the largest causes."""
    limit = budget.instructions
    if limit is None or profile.inference <= limit:
        return
    causes = [(call.instructions, f"call {call.index}, {call.kernel} of {origin(call)}") for call in profile.calls]
    causes.append((profile.executor, "the executor"))
    raise UserError(
        f"{profile.name} exceeds its budget on {profile.core}: "
        f"{over('an inference', profile.inference, limit, 'instructions')}. Most are those of "
        f"{largest(causes, 'instructions')}",
        exit_code=1,
    )


def share(profile: Profile, instructions: int) -> str:
    """Returns "12.3 %" of the inference."""
    return f"{100 * instructions / profile.inference:.1f} %"


def per_multiplication(instructions: int, multiplications: int) -> str:
    """Returns "1.57", "" where nothing is multiplied."""
    return f"{instructions / multiplications:.2f}" if multiplications else ""


def origin(call: CallProfile) -> str:
    """Returns the user's modules that a call computes, or the functions of the program where no module is known."""
    return ", ".join(call.modules or call.functions)


def _rows(profile: Profile) -> list[list[str]]:
    largest = max((call.instructions for call in profile.calls), default=0) or 1
    titles = ("call", "kernel", "provider", "module", "input", "output", "multiplications", "instructions", "share")
    rows = [[*titles, "", "per multiplication"]]
    for call in profile.calls:
        rows.append(
            [
                str(call.index),
                call.kernel,
                call.provider,
                " ".join(module.partition(" ")[0] for module in call.modules) or origin(call),
                " ".join(map(shape, call.inputs)),
                " ".join(map(shape, call.outputs)),
                f"{call.multiplications:,}",
                f"{call.instructions:,}",
                share(profile, call.instructions),
                "#" * round(_BAR * call.instructions / largest),
                per_multiplication(call.instructions, call.multiplications),
            ]
        )
    rows.append(["", "executor", *[""] * 5, f"{profile.executor:,}", share(profile, profile.executor), "", ""])
    rows.append(
        [
            *["", "inference", "", "", "", ""],
            f"{profile.multiplications:,}",
            f"{profile.inference:,}",
            share(profile, profile.inference),
            "",
            per_multiplication(profile.inference, profile.multiplications),
        ]
    )
    return rows


def _with_measured(profile: Profile, measured: Optional[Measured], rows: list[list[str]]) -> list[list[str]]:
    """Returns the rows with two further columns, if a board has run the calls."""
    if measured is None:
        return rows
    cycles = (*measured.calls, measured.executor, measured.inference)
    products = (*(call.multiplications for call in profile.calls), 0, profile.multiplications)
    cells = [("measured cycles", "per multiplication")]
    cells += [
        (f"{count:,}", per_multiplication(count, product)) for count, product in zip(cycles, products, strict=True)
    ]
    return [[*row, *more] for row, more in zip(rows, cells, strict=True)]


def _with_cycles(profile: Profile, rows: list[list[str]]) -> list[list[str]]:
    """Returns the rows with one or two further columns, if cycles are modelled."""
    if profile.cycles is None:
        return rows
    of_calls = [call.cycles or (0, 0) for call in profile.calls]
    low, high = (profile.cycles[i] - sum(pair[i] for pair in of_calls) for i in (0, 1))
    cycles = ["modelled cycles", *(f"{a:,} to {b:,}" for a, b in (*of_calls, (low, high), profile.cycles))]
    if profile.flash_waits is None:
        return [[*row, cell] for row, cell in zip(rows, cycles, strict=True)]
    of_calls = [call.flash_waits or (0, 0) for call in profile.calls]
    waits = [
        "waits for flash",
        *(f"{a:,} to {b:,}" for a, b in of_calls),
        "",
        "{:,} to {:,}".format(*profile.flash_waits),
    ]
    return [[*row, *cells] for row, *cells in zip(rows, cycles, waits, strict=True)]
