"""`cmsisnn diff`: shows what differs between two compiled models, images or profiles, largest first."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..files.artifacts import Artifacts
from ..report import difference
from ..support.errors import require_file
from .printing import write


def run(arguments: argparse.Namespace) -> int:
    texts = [_report_text(path) for path in (arguments.before, arguments.after)]
    found = difference.compare(texts[0], texts[1], (arguments.before, arguments.after))
    forms = {"text": difference.render, "markdown": difference.render_markdown, "json": difference.Difference.to_json}
    write(forms[arguments.format](found))
    return 0


def _report_text(path: str) -> bytes:
    """Returns the report at `path`: a JSON file, or a compiled model."""
    file = Path(path)
    if not path.endswith(".json") or path.endswith(".report.json"):
        artifacts = Artifacts.of(path)
        artifacts.read(".report.json")
        file = artifacts.path(".report.json")
    require_file(file)
    return file.read_bytes()
