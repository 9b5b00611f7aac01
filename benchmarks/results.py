"""The results of a run, and their JSON: `Results`."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from benchmarks.cycles import Modelled
from benchmarks.direct.direct import Direct
from benchmarks.flash.flash import Flash
from benchmarks.formats import Formatted
from benchmarks.measure import Call, Environment, Measurement
from benchmarks.sparse import Sparse
from benchmarks.weights import Weights

# The version of the JSON's structure.
SCHEMA = 3

_MODELLED = ("cycles", "flash_waits", "code_waits")


@dataclass(frozen=True)
class Results:
    """What one run measured. `left_out` has what could not be measured, a sentence each."""

    environment: Environment
    measurements: tuple[Measurement, ...]
    direct: tuple[Direct, ...] = ()
    choices: tuple[Measurement, ...] = ()  # those with a `choice`
    flash: tuple[Flash, ...] = ()
    formats: tuple[Formatted, ...] = ()
    weights: tuple[Weights, ...] = ()
    left_out: tuple[str, ...] = ()
    modelled: tuple[Modelled, ...] = ()
    sparse: tuple[Sparse, ...] = ()

    def to_json(self) -> str:
        """Returns a document of the version `SCHEMA`, with a final newline. A call is a list of `Call`'s fields."""
        head = {"schema": SCHEMA, "unit": "executed instructions, bytes"} | {
            "environment": dataclasses.asdict(self.environment),
            "left_out": list(self.left_out),
            "call": [field.name for field in dataclasses.fields(Call)],
        }
        lists = {
            "measurements": [_to_json(measurement) for measurement in self.measurements],
            "choices": [_to_json(measurement) for measurement in self.choices],
            "direct": [f"  {json.dumps(dataclasses.asdict(entry))}" for entry in self.direct],
            "flash": [f"  {json.dumps(dataclasses.asdict(entry))}" for entry in self.flash],
            "formats": [f"  {json.dumps(_known(dataclasses.asdict(entry)))}" for entry in self.formats],
            "weights": [f"  {json.dumps(dataclasses.asdict(entry))}" for entry in self.weights],
            "modelled": [f"  {json.dumps(dataclasses.asdict(entry))}" for entry in self.modelled],
            "sparse": [f"  {json.dumps(dataclasses.asdict(entry))}" for entry in self.sparse],
        }
        parts = [json.dumps(head, indent=1)[:-2]]
        parts += [
            "\n".join([f' "{name}": [', *([",\n".join(lines)] if lines else []), " ]"]) for name, lines in lists.items()
        ]
        return ",\n".join(parts) + "\n}\n"


def _to_json(measurement: Measurement) -> str:
    fields = dataclasses.asdict(measurement)
    calls = ",\n".join(f"   {json.dumps(list(call.values()))}" for call in fields.pop("calls"))
    return f'  {json.dumps(fields)[:-1]}, "calls": [\n{calls}\n  ]}}'


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields without modelled cycles that are not known."""
    return {name: value for name, value in fields.items() if name not in _MODELLED or value is not None}


def _pairs(fields: dict[str, Any]) -> dict[str, Any]:
    """Takes the modelled cycles that are known out of `fields`, and returns them."""
    return {name: (pair[0], pair[1]) for name in _MODELLED if (pair := fields.pop(name, None))}


def _from_json(fields: dict[str, Any], names: list[str]) -> Measurement:
    calls = tuple(Call(**dict(zip(names, call, strict=True))) for call in fields.pop("calls"))
    modelled = _pairs(fields)
    return Measurement(**fields, calls=calls, **modelled)


def read_results(text: str) -> Results:
    """Reads what `Results.to_json` wrote; ValueError for another version."""
    document: dict[str, Any] = json.loads(text)
    if document.get("schema") != SCHEMA:
        raise ValueError(f"results of version {document.get('schema')}, not {SCHEMA}: measure again")
    measurements, choices = (
        tuple(_from_json(fields, document["call"]) for fields in document[name]) for name in ("measurements", "choices")
    )
    environment = document["environment"]
    environment["compilers"] = tuple(environment["compilers"])
    direct = tuple(Direct(**fields) for fields in document["direct"])
    flash = tuple(Flash(**fields) for fields in document["flash"])
    formats = tuple(Formatted(**{**_pairs(fields), **fields}) for fields in document["formats"])
    weights = tuple(Weights(**fields) for fields in document["weights"])
    modelled = tuple(
        Modelled(**{**fields, "cycles": (fields["cycles"][0], fields["cycles"][1])})
        for fields in document.get("modelled", ())
    )
    sparse = tuple(Sparse(**fields) for fields in document.get("sparse", ()))
    left_out = tuple(document["left_out"])
    return Results(
        Environment(**environment), measurements, direct, choices, flash, formats, weights, left_out, modelled, sparse
    )
