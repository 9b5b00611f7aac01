"""Reads the JSON documents that a page is made of, and checks that they belong together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from ....errors import UserError
from ..from_json import report_of
from ..model_report import SCHEMA

Document = Mapping[str, Any]

# Of `explanation`, `runner.profile` and `accuracy_report`, which this package may not import.
_PARTS_SCHEMA = 1
_PROFILE_SCHEMA = 1
_ACCURACY_SCHEMA = 2


def read_report(path: Union[str, Path]) -> Document:
    """Returns a report as `Report.to_json` writes it. UserError if the file is none, or of another version."""
    document = _read(path)
    if "arena" not in document or "calls" not in document:
        raise UserError(f"{path} is no report: give a NAME.report.json that `cmsisnn compile` wrote")
    if document.get("schema") != SCHEMA:
        raise UserError(
            f"{path} has version {document.get('schema', 1)} of the report, and this program reads version {SCHEMA}: "
            "compile the model again"
        )
    report_of(document, str(path))  # checks the fields
    return document


def read_parts(path: Union[str, Path]) -> Document:
    """Returns what is known of a model that is not one payload, as `cmsisnn compile` writes it. UserError if the file
    is none, or of another version."""
    document = _read(path)
    if not {"functions", "parts", "program_crc32"} <= document.keys():
        raise UserError(f"{path} does not describe the parts of a model: give a NAME.parts.json")
    parts = document["parts"]
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise UserError(f"{path} has something else than a list of reports as 'parts': compile the model again")
    schemas = document.get("schema"), {part.get("schema") for part in parts}
    if schemas != (_PARTS_SCHEMA, {SCHEMA}):
        raise UserError(f"{path} has another version than {_PARTS_SCHEMA} and {SCHEMA}: compile the model again")
    for index, part in enumerate(parts):
        report_of(part, f"parts[{index}] of {path}")  # checks the fields
    return document


def read_profile(path: Union[str, Path], report: Document) -> Document:
    """Returns a profile of the payload of `report`, as `cmsisnn profile --json` prints it. UserError if the file is
    none, or was measured with other calls."""
    document = _read(path)
    if document.get("schema") != _PROFILE_SCHEMA or "inference" not in document:
        raise UserError(f"{path} is no profile: write one with `cmsisnn profile NAME --json`")
    measured, calls = ([_identity(call) for call in d["calls"]] for d in (document, report))
    if measured != calls:
        different = next((i for i, pair in enumerate(zip(measured, calls)) if pair[0] != pair[1]), None)
        what = f"{len(measured)} calls, not {len(calls)}" if different is None else f"another call {different}"
        raise UserError(f"{path} was measured with another payload than this report's: it has {what}; profile again")
    return document


def read_accuracy(path: Union[str, Path], report: Document) -> Document:
    """Returns what `cmsisnn accuracy --json` printed for the model of `report`. UserError if the file is none, or of
    another model or target."""
    document = _read(path)
    if document.get("schema") != _ACCURACY_SCHEMA or "arithmetics" not in document:
        raise UserError(f"{path} has no accuracy: write one with `cmsisnn accuracy MODEL --data FILE.npz --json`")
    measured, compiled = ((d[model], d["target"]) for d, model in ((document, "model"), (report, "name")))
    if measured != compiled:
        raise UserError(f"{path} is about {' for '.join(measured)}, and the report about {' for '.join(compiled)}")
    return document


def read_image(path: Union[str, Path]) -> tuple[str, Document]:
    """Returns the name of a firmware image and its sizes. UserError if the file has none."""
    document = _read(path)
    if not {"flash", "ram"} <= document.keys():
        raise UserError(f"{path} has no sizes of a firmware: give the IMAGE.size.json that is built beside IMAGE.elf")
    return Path(path).name.removesuffix(".size.json"), document


def _identity(call: Document) -> tuple[str, str, Any, Any]:
    return call["kernel"], call["provider"], call["inputs"], call["outputs"]


def _read(path: Union[str, Path]) -> Document:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise UserError(f"{path} contains no object")
    return document
