"""The page of `cmsisnn report --html`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..accuracy.report import read as read_accuracy
from ..files.artifacts import PAGE_SUFFIX, PARTS_SUFFIX, Artifacts
from ..files.outputs import check_writable, write_files
from ..report import parts_report
from ..report.budget import Budget
from ..report.from_json import read_report
from ..report.image_sizes import read_image
from ..report.page import library, outputs, render
from ..report.page.parts import render_parts
from ..runner.profile import read as read_profile
from ..support.errors import UserError
from .printing import say


def write_page(arguments: argparse.Namespace) -> int:
    """Writes the page of `report --html`, of NAME.report.json alone."""
    Budget(arguments.max_arena, arguments.max_flash)  # refuses limits below 0
    library.check_installed()
    if arguments.model.endswith(".json"):
        path = Path(arguments.model)
    else:
        artifacts = Artifacts.of(arguments.model)
        artifacts.check()
        suffix = PARTS_SUFFIX if artifacts.has(PARTS_SUFFIX) else ".report.json"
        artifacts.read(suffix)
        path = artifacts.path(suffix)
    begin = path.with_name(path.name.removesuffix(".json").removesuffix(".report").removesuffix(".parts"))
    html = Path(arguments.html) if arguments.html else begin.with_name(begin.name + PAGE_SUFFIX)
    check_writable(html.parent, [html.name])
    if path.name.endswith(PARTS_SUFFIX):
        return _page_of_parts(arguments, path, html)
    report = read_report(path)
    beside = begin.with_name(begin.name + ".profile.json")
    measured = arguments.profile or (beside if beside.is_file() else None)
    profile = None if measured is None else read_profile(measured, report)
    page = render.render(
        report,
        profile,
        None if arguments.against is None else read_report(arguments.against),
        accuracy=None
        if arguments.accuracy is None
        else read_accuracy(arguments.accuracy, report["name"], report["target"]),
        firmware=None if arguments.image is None else read_image(arguments.image),
        limits=_limits(arguments),
        outputs=() if arguments.outputs is None else outputs.read(arguments.outputs, report),
    )
    write_files(html.parent, {html.name: page.encode()})
    if profile is None:
        say(f"without instructions: write them with `cmsisnn profile {begin} --json > {beside}`")
    print(f"Written\n  {html} ({html.stat().st_size:,} bytes)")
    return 0


def _page_of_parts(arguments: argparse.Namespace, path: Path, html: Path) -> int:
    for option in ("profile", "outputs"):
        if getattr(arguments, option) is not None:
            raise UserError(f"--{option} is for models that are one delegate call")
    parts = parts_report.read(path)
    page = render_parts(
        parts,
        None if arguments.against is None else parts_report.read(arguments.against),
        accuracy=None
        if arguments.accuracy is None
        else read_accuracy(arguments.accuracy, parts["name"], parts["target"]),
        firmware=None if arguments.image is None else read_image(arguments.image),
        limits=_limits(arguments),
    )
    write_files(html.parent, {html.name: page.encode()})
    print(f"Written\n  {html} ({html.stat().st_size:,} bytes)")
    return 0


def _limits(arguments: argparse.Namespace) -> dict[str, int]:
    """Returns the limits that a page shows."""
    limits = {"arena": arguments.max_arena, "flash": arguments.max_flash}
    return {name: limit for name, limit in limits.items() if limit is not None}
