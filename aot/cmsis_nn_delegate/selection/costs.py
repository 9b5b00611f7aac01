"""Predicts the instructions of calls, by models that were fitted to instructions counted in a simulator.

The models are in costs.json, which `bazel run //benchmarks/costs -- --write` measures and writes again: one for each
provider, kernel, core and path (`ops.features`), each a constant for the call and a weight for each count. Cores that
were not measured take the models of one with the same instructions. Instructions are not cycles.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ..graph.tensor_type import Element
from ..ops.features import Features
from ..targets.cores import CORES
from ..targets.target import Target, has_fpu

TABLE = Path(__file__).with_name("costs.json")

# How the names of kernels end that compute with floats.
_FLOATS = f"_{Element.FLOAT32.value}"

# Architectures without the 32-bit instructions of Armv7-M.
_SMALL = ("armv6-m", "armv8-m.base")


def _measured_core(isa: str, architecture: str) -> str:
    if isa == "scalar":
        return "cortex-m0plus" if architecture in _SMALL else "cortex-m3"
    return {"dsp": "cortex-m4", "mve": "cortex-m55"}[isa]


# The core whose models a target takes: its own, or those of one that runs nearly the same code. The sums for ds_cnn,
# autoencoder and resnet8 on M23, and on M33 without DSP, M55 without MVE and M55 without FPU, are within 3 % of those
# counted.
MEASURED_CORES: Mapping[str, str] = {
    name: _measured_core(isa, architecture) for name, (isa, architecture, _) in CORES.items()
}


def _measured_for_floats(core: str) -> str:
    """Returns the core whose models a target takes for kernels of float32: one with an FPU if it has one, one without
    if not."""
    if core not in CORES:
        return ""
    isa, architecture, _ = CORES[core]
    if not has_fpu(core):
        return _measured_core("scalar", architecture)
    return _measured_core("dsp" if isa == "scalar" else isa, architecture)


@dataclass(frozen=True)
class Model:
    """Instructions of a call: `call`, and for each count its weight. All are 0 or more, so that no prediction gets
    smaller where a count gets larger. Errors are relative to what was counted, of samples that a fit to the others had
    not seen."""

    call: float
    weights: Mapping[str, float]
    samples: int
    median_error: float
    largest_error: float

    def instructions(self, counts: Mapping[str, int]) -> float:
        return self.call + sum(self.weights.get(name, 0) * count for name, count in counts.items())


@dataclass(frozen=True)
class Accuracy:
    """How far the sum of all calls of `networks` networks was from what was counted, relative to that. The models that
    predicted a network had not seen its calls."""

    core: str
    providers: str  # that calls were compiled for, the preferred ones first: "tuned,cmsis-nn,portable"
    networks: int
    median_error: float
    largest_error: float


@dataclass(frozen=True)
class Costs:
    """The table. Models are by (core, provider, kernel, path)."""

    cmsis_nn: str  # the commit
    compilers: tuple[str, ...]
    simulator: str
    models: Mapping[tuple[str, str, str, str], Model]
    accuracy: tuple[Accuracy, ...]

    def predicted(self, core: str, provider: str, kernel: str, features: Features) -> Optional[int]:
        """Returns about how many instructions a call takes; None if there is no model."""
        measured = _measured_for_floats(core) if kernel.endswith(_FLOATS) else MEASURED_CORES.get(core, "")
        model = self.models.get((measured, provider, kernel, features.path))
        return None if model is None else max(1, round(model.instructions(features.counts)))

    def accuracy_of(self, core: str, providers: Sequence[str]) -> Optional[Accuracy]:
        """Returns what is known for calls that were compiled for `providers`, the preferred ones first."""
        names = ",".join(providers)
        return next((found for found in self.accuracy if (found.core, found.providers) == (core, names)), None)

    def updated(self, newer: Costs) -> Costs:
        """Returns this table with what `newer` says of its cores in the place of what it said."""
        models = {key: model for key, model in self.models.items() if key[0] not in {core for core, *_ in newer.models}}
        cores = {found.core for found in newer.accuracy}
        accuracy = [*(found for found in self.accuracy if found.core not in cores), *newer.accuracy]
        return dataclasses.replace(
            newer,
            models=models | dict(newer.models),
            accuracy=tuple(sorted(accuracy, key=lambda found: (found.core, found.providers))),
        )

    def to_json(self) -> str:
        """Returns the table with a line for each model, so that changes are easy to see."""
        head = {
            "cmsis_nn": self.cmsis_nn,
            "compilers": self.compilers,
            "simulator": self.simulator,
            "columns": _COLUMNS,
        }
        rows = {
            "accuracy": [list(vars(found).values()) for found in self.accuracy],
            "models": [[*key, *vars(model).values()] for key, model in sorted(self.models.items())],
        }
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        for name, some in rows.items():
            lines.append(f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(row) for row in some) + "\n]")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @staticmethod
    def of_json(text: str) -> Costs:
        document = json.loads(text)
        if document["columns"] != _COLUMNS:
            raise ValueError(f"the table of costs has the columns {document['columns']}, not {_COLUMNS}")
        models = {
            (core, provider, kernel, path): Model(*rest) for core, provider, kernel, path, *rest in document["models"]
        }
        accuracy = tuple(Accuracy(*row) for row in document["accuracy"])
        return Costs(document["cmsis_nn"], tuple(document["compilers"]), document["simulator"], models, accuracy)


_COLUMNS = {
    "accuracy": [field.name for field in dataclasses.fields(Accuracy)],
    "models": ["core", "provider", "kernel", "path", *(field.name for field in dataclasses.fields(Model))],
}


@functools.cache
def costs() -> Costs:
    """Returns the table of this version."""
    return Costs.of_json(TABLE.read_text(encoding="utf-8"))


def predicted_instructions(features: Features, kernel: str, provider: str, target: Target) -> Optional[int]:
    """Returns about how many instructions a call of `kernel` takes on `target` with the kernel of `provider`; None if
    there is no model for such calls."""
    return costs().predicted(target.name, provider, kernel, features)
