"""`cmsisnn profile`: counts the instructions of every call on a simulated core, and cycles on a board."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Optional

from ..files.artifacts import Artifacts
from ..files.outputs import check_writable, write_files
from ..report.budget import Budget
from ..report.from_json import load_report
from ..runner import chrome_trace, measured, profile, profile_text, simulate
from ..support.errors import UserError
from ..support.structured import parse_json
from ..targets.target import get_target
from .inputs import samples_of
from .printing import say, write


def run(arguments: argparse.Namespace) -> int:
    budget = Budget(instructions=arguments.max_instructions)
    _check_board(arguments)
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    trace = Path(arguments.trace) if arguments.trace is not None else None
    if trace is not None:
        if not trace.name:
            raise UserError(f"--trace {arguments.trace!r} names no file")
        check_writable(trace.parent, [trace.name])
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        counted, on_board = _profiled(artifacts, arguments)
    write(counted.to_json(on_board) if arguments.json else f"\n{profile_text.render(counted, on_board)}")
    if trace is not None:
        write_files(trace.parent, {trace.name: chrome_trace.to_trace(counted).encode()})
        print(f"Written\n  {trace}", file=sys.stderr if arguments.json else sys.stdout)
    profile_text.require(counted, budget)
    return 0


def _check_board(arguments: argparse.Namespace) -> None:
    """UserError if the options for a board do not fit together."""
    if arguments.on is None:
        for option, given in (("--board-name", arguments.board_name), ("--board-image", arguments.board_image)):
            if given is not None:
                raise UserError(f"{option} is for a board: say with --on where it is")
        return
    if not arguments.board_name:
        raise UserError("--on needs --board-name, with the clock of its core: cycles without that say nothing")
    if arguments.on.startswith("gdb:") != (arguments.board_image is not None):
        raise UserError(
            "--on gdb://HOST:PORT needs --board-image, and --on serial://PORT, whose image is there, has none"
        )


def _profiled(
    artifacts: Artifacts, arguments: argparse.Namespace
) -> tuple[profile.Profile, Optional[measured.Measured]]:
    """Measures what `profile` shows."""
    report = load_report(artifacts.checked_path(".report.json"))
    graph, about = artifacts.graph()
    try:
        modules, target = parse_json(about.modules, "modules"), get_target(about.target)
    except ValueError as error:
        raise UserError(f"{artifacts.path('.graph.npz')}, about: {error}: compile the model again") from error
    core = arguments.core or target.name
    if get_target(core).isa is not artifacts.payload().isa:
        raise UserError(
            f"{artifacts.path('.payload.bin')} is for cores with the instruction set {report.isa.lower()}, such as "
            f"{about.target}; {core} has {get_target(core).isa.name.lower()}: compile the model with --target {core}"
        )
    if arguments.cycles and core.partition("+")[0] not in simulate.MODELLED_CORES:
        raise UserError(
            f"cycles are modelled for {', '.join(simulate.MODELLED_CORES)}, and this is for {core}: leave out --cycles"
        )
    image = arguments.image or simulate.default_image(core, profile=True)
    if arguments.inputs is None:
        inputs, about_inputs = profile.random_inputs(graph), "random inputs"
    else:
        first, *others = samples_of(artifacts, arguments)
        inputs, about_inputs = list(first), f"the {'first' if others else 'only'} sample of {arguments.inputs}"
    on_board = None
    if arguments.on is not None:
        on_board = measured.measure(
            report,
            artifacts.payload().data,
            inputs,
            arguments.on,
            arguments.board_image,
            arguments.board_name,
            timeout_s=arguments.timeout,
            progress=say,
        )
    say(f"simulating {image}")
    counted = profile.measure(
        report,
        artifacts.payload().data,
        inputs,
        image,
        modules=modules,
        about_inputs=about_inputs,
        cycles=arguments.cycles,
        timeout_s=arguments.timeout,
        progress=say,
    )
    return counted, on_board
