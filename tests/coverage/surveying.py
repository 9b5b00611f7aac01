"""What surveys have in common: they measure one case after the other, print a line about each, and write a report."""

from __future__ import annotations

import argparse
import os
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cmsis_nn_delegate.support.quiet import quiet


@dataclass(frozen=True)
class Survey:
    """`measure` has a function for each case, by name. Its results, by name, are what `text` makes the report of and
    `summary` the last line. `incomplete` says why there is no report, "" if all cases are there."""

    measure: Mapping[str, Callable[[], Any]]
    line: Callable[[str, Any], str]
    text: Callable[[Mapping[str, Any]], str]
    summary: Callable[[Mapping[str, Any]], str]
    incomplete: str = ""


def main(description: str, report: str, load: Callable[[], Survey]) -> None:
    """Runs the survey that `load` returns, with the arguments of the command line. `load` may import what warns."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only the cases whose names contain this")
    parser.add_argument("--write", action="store_true", help=f"write {report}")
    parser.add_argument("--keep", metavar="FILE", help="keep results here, and go on with those of a run that ended")
    arguments = parser.parse_args()
    if arguments.only and arguments.write:
        parser.error("--write needs all cases: leave out --only")
    quiet()
    survey = load()
    if survey.incomplete:
        print(survey.incomplete, flush=True)
        if arguments.write:
            parser.error(f"--write needs all cases: {survey.incomplete}")
    kept = Path(arguments.keep) if arguments.keep else None
    outcomes = pickle.loads(kept.read_bytes()) if kept is not None and kept.is_file() else {}
    for name, measure in survey.measure.items():
        if arguments.only in name and name not in outcomes:
            started = time.monotonic()
            outcomes[name] = measure()
            if kept is not None:
                kept.write_bytes(pickle.dumps(outcomes))
            print(f"{survey.line(name, outcomes[name])} ({time.monotonic() - started:.0f} s)", flush=True)
    outcomes = {name: outcomes[name] for name in survey.measure if name in outcomes}
    print(survey.summary(outcomes))
    if arguments.write:
        root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
        (root / report).write_text(survey.text(outcomes), encoding="utf-8")
