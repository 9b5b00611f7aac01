"""`cmsisnn report`: shows RAM, flash and calls of a compiled model."""

from __future__ import annotations

import argparse

from ..files.artifacts import PARTS_SUFFIX, Artifacts
from ..report import parts_report, text
from ..report.from_json import load_report
from ..support.errors import UserError
from .late_import import late_import
from .printing import write


def run(arguments: argparse.Namespace) -> int:
    if arguments.html is not None:
        return int(late_import("report_page").write_page(arguments))
    for option in ("profile", "against", "accuracy", "image", "outputs", "max_arena", "max_flash"):
        if getattr(arguments, option) is not None:
            raise UserError(f"--{option.replace('_', '-')} is for --html")
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    if artifacts.has(PARTS_SUFFIX):
        return _report_parts(artifacts, arguments.json)
    report = load_report(artifacts.checked_path(".report.json"))
    write(report.to_json() if arguments.json else text.render(report))
    return 0


def _report_parts(artifacts: Artifacts, as_json: bool) -> int:
    found = parts_report.read(artifacts.path(PARTS_SUFFIX))
    write(parts_report.to_json(found) if as_json else parts_report.render(found))
    return 0
