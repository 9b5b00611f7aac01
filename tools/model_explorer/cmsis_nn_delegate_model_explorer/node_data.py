"""Instructions and memory of each call as node data of Model Explorer.

    cmsisnn-node-data out/net -o out/node_data

The instructions are the executed ones of out/net.profile.json (`cmsisnn profile out/net --json`) if it is there, and
otherwise the predicted ones of the report.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from model_explorer.node_data_builder import GradientItem, GraphNodeData, ModelNodeData, NodeDataResult

from cmsis_nn_delegate import UserError
from cmsis_nn_delegate.files.artifacts import Artifacts

from .graph import graph_of, report_of

Document = Mapping[str, Any]

# From few to many.
_GRADIENT = [GradientItem(stop=0, bgColor="#e8f1fa"), GradientItem(stop=1, bgColor="#d9480f")]


def node_data(report: Document, profile: Optional[Document] = None) -> dict[str, ModelNodeData]:
    """Returns the columns by name; each is a file for Model Explorer. UserError if the profile is of another model."""
    if profile is not None and [c["kernel"] for c in profile["calls"]] != [c["kernel"] for c in report["calls"]]:
        raise UserError("the profile has other calls than the report: run `cmsisnn profile` again")
    columns: dict[str, dict[str, Optional[int]]] = {
        "bytes alive": _of(report, "live_bytes"),
        "bytes of constants": _of(report, "constant_bytes"),
        "bytes of scratch memory": _of(report, "scratch_bytes"),
        "predicted instructions": _of(report, "predicted_instructions"),
    }
    if profile is not None:
        columns["executed instructions"] = _of(profile, "instructions")
    graph = graph_of(report).id
    found = {}
    for name, values in columns.items():
        results = {node: NodeDataResult(value) for node, value in values.items() if value is not None}
        if results:
            found[name] = ModelNodeData({graph: GraphNodeData(results, name, gradient=_GRADIENT)})
    return found


def _of(document: Document, field: str) -> dict[str, Optional[int]]:
    return {f"call {call['index']}": call[field] for call in document["calls"]}


def main(argv: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="cmsisnn-node-data", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", help="a compiled model: out/net")
    parser.add_argument("-o", "--output", required=True, type=Path, help="folder for the files, one for each column")
    args = parser.parse_args(argv)
    try:
        files = Artifacts.of(args.model)
        report = report_of(args.model)
        path = files.path(".profile.json")
        profile = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        found = node_data(report, profile)
        args.output.mkdir(parents=True, exist_ok=True)
        for name, data in found.items():
            data.save_to_file(str(args.output / f"{files.name}.{name.replace(' ', '_')}.json"))
    except (OSError, UserError) as error:
        print(f"cmsisnn-node-data: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
