"""The results of a run, and their JSON: `Results`."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from benchmarks.direct.direct import Direct
from benchmarks.measure import Call, Environment, Measurement

# The version of the JSON's structure.
SCHEMA = 1


@dataclass(frozen=True)
class Results:
    """What one run measured. `left_out` has what could not be measured, a sentence each."""

    environment: Environment
    measurements: tuple[Measurement, ...]
    direct: tuple[Direct, ...] = ()
    left_out: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Returns a document of the version `SCHEMA`, with a final newline. A call is a list of `Call`'s fields."""
        head = {"schema": SCHEMA, "unit": "executed instructions, bytes"} | {
            "environment": dataclasses.asdict(self.environment),
            "left_out": list(self.left_out),
            "call": [field.name for field in dataclasses.fields(Call)],
        }
        lines = [json.dumps(head, indent=1)[:-2] + ',\n "measurements": [']
        for number, measurement in enumerate(self.measurements):
            fields = dataclasses.asdict(measurement)
            calls = ",\n".join(f"   {json.dumps(list(call.values()))}" for call in fields.pop("calls"))
            comma = "," * (number + 1 < len(self.measurements))
            lines.append(f'  {json.dumps(fields)[:-1]}, "calls": [\n{calls}\n  ]}}{comma}')
        direct = ",\n".join(f"  {json.dumps(dataclasses.asdict(entry))}" for entry in self.direct)
        return "\n".join([*lines, " ],", ' "direct": [', *([direct] if direct else []), " ]", "}", ""])


def read_results(text: str) -> Results:
    """Reads what `Results.to_json` wrote; ValueError for another version."""
    document: dict[str, Any] = json.loads(text)
    if document.get("schema") != SCHEMA:
        raise ValueError(f"results of version {document.get('schema')}, not {SCHEMA}: measure again")
    measurements = []
    for fields in document["measurements"]:
        calls = tuple(Call(**dict(zip(document["call"], call, strict=True))) for call in fields.pop("calls"))
        cycles = fields.pop("cycles")
        measurements.append(Measurement(**fields, calls=calls, cycles=cycles and (cycles[0], cycles[1])))
    environment = document["environment"]
    environment["compilers"] = tuple(environment["compilers"])
    direct = tuple(Direct(**fields) for fields in document["direct"])
    return Results(Environment(**environment), tuple(measurements), direct, tuple(document["left_out"]))
