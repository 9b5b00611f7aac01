"""`cmsisnn profile`: counts the instructions of every call on a simulated core."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from ..files.artifacts import Artifacts
from ..files.outputs import check_writable, write_files
from ..report.budget import Budget
from ..report.from_json import load_report
from ..runner import chrome_trace, profile, profile_text, simulate
from ..support.errors import UserError
from ..support.structured import parse_json
from ..targets.target import get_target
from .inputs import samples_of
from .printing import say, write


def run(arguments: argparse.Namespace) -> int:
    budget = Budget(instructions=arguments.max_instructions)
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    trace = Path(arguments.trace) if arguments.trace is not None else None
    if trace is not None:
        if not trace.name:
            raise UserError(f"--trace {arguments.trace!r} names no file")
        check_writable(trace.parent, [trace.name])
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        measured = _profiled(artifacts, arguments)
    write(measured.to_json() if arguments.json else f"\n{profile_text.render(measured)}")
    if trace is not None:
        write_files(trace.parent, {trace.name: chrome_trace.to_trace(measured).encode()})
        print(f"Written\n  {trace}", file=sys.stderr if arguments.json else sys.stdout)
    profile_text.require(measured, budget)
    return 0


def _profiled(artifacts: Artifacts, arguments: argparse.Namespace) -> profile.Profile:
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
    say(f"simulating {image}")
    return profile.measure(
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
