"""The report of compiled files, computed again."""

from __future__ import annotations

import dataclasses

from ..errors import UserError
from ..payload.files.artifacts import Artifacts
from ..payload.lower_partition import encode
from ..payload.options import PayloadOptions
from ..payload.report.model_report import Report, build_report
from ..structured import parse_json
from ..target import get_target


def rebuilt_report(artifacts: Artifacts) -> Report:
    """Returns the report of compiled files. UserError if the graph does not compile to the payload."""
    payload = artifacts.payload()
    graph, about = artifacts.graph()
    try:
        options = PayloadOptions.from_texts(dataclasses.asdict(about))
        target = get_target(about.target)
        modules, lines = parse_json(about.modules, "modules"), parse_json(about.lines, "lines")
    except ValueError as error:
        raise UserError(f"{artifacts.path('.graph.npz')}, about: {error}: compile the model again") from error
    # The graph is in bands already.
    encoded = encode(graph, target, dataclasses.replace(options, max_slowdown=0))
    if encoded.payload != payload.data:
        raise UserError(
            f"{artifacts.path('.graph.npz')} does not compile to {artifacts.path('.payload.bin')}: "
            "compile the model again",
            exit_code=1,
        )
    return build_report(about.name, encoded, about.quantizer, modules, lines)
