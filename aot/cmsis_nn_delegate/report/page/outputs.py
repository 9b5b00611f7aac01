"""The outputs of a run over time: `cmsisnn run -o` writes them, and the page draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np

from ...support.errors import UserError, first_line, require_file
from .charts import Spec, chart, shown

_LINES = 4  # elements: more are a map, in which none hides another
_ELEMENTS = 64
_STEPS = 2000

Recorded = Sequence[np.ndarray]
"""By output, its real numbers: (inferences, elements)."""


def read(path: Union[str, Path], report: Mapping[str, Any]) -> Recorded:
    """Returns the outputs in a file that `cmsisnn run -o` wrote for the model of `report`. UserError if it has none, or
    those of another model."""
    require_file(path)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zipfile and numpy raise many kinds of errors
        raise UserError(f"{path} has no arrays: {first_line(error)}; give what `cmsisnn run -o` wrote") from error
    named = {f"output{index}": described for index, described in enumerate(report["outputs"])}
    if found.keys() != named.keys():
        raise UserError(
            f"{path} has the arrays {', '.join(sorted(found)) or '(none)'}, and the model's outputs are "
            f"{', '.join(named)}: give what `cmsisnn run -o` wrote"
        )
    recorded = [_real(path, name, found[name], described) for name, described in named.items()]
    if len({len(values) for values in recorded}) != 1:
        raise UserError(f"{path} has outputs of different numbers of inferences")
    return recorded


def _real(path: Union[str, Path], name: str, data: np.ndarray, described: Mapping[str, Any]) -> np.ndarray:
    shape = tuple(described["shape"])
    batch, rest = (shape[0], shape[1:]) if shape else (1, ())
    if data.ndim == 0 or data.shape[1:] != rest or not len(data) or len(data) % max(batch, 1):
        raise UserError(
            f"{path}: {name} has the shape {list(data.shape)}, which is no number of outputs of the shape {list(shape)}"
        )
    values = data.reshape(len(data) // max(batch, 1), -1).astype(np.float64)
    scale = described["scale"]
    return values if scale is None else (values - described["zero_point"]) * scale


def over_time(values: np.ndarray) -> tuple[Spec, str]:
    """Returns a chart of (inferences, elements), and what it leaves out, if anything."""
    inferences, elements = values.shape
    chosen = np.arange(elements)
    left_out = []
    if elements > _ELEMENTS:
        chosen = np.sort(np.argsort(-values.var(0), kind="stable")[:_ELEMENTS])
        left_out.append(f"the {_ELEMENTS} of {elements:,} elements that change most")
    if inferences > _STEPS:
        left_out.append(f"the first {_STEPS:,} of {inferences:,} inferences")
    names = [str(element) for element in chosen]
    rows = [
        {"inference": step, **{name: float(f"{x:.4g}") for name, x in zip(names, row)}}
        for step, row in enumerate(values[:_STEPS, chosen])
    ]
    spec = _lines(names, len(rows)) if len(names) <= _LINES else _map(names, len(rows))
    folded = {"data": {"values": rows}, "transform": [{"fold": names, "as": ["element", "value"]}]}
    return {**chart(220), **folded, **spec}, ", ".join(left_out)


def _lines(names: Sequence[str], inferences: int) -> Spec:
    legend = {"columns": len(names)} if len(names) > 1 else None
    color = {"scale": {"domain": list(names), "scheme": "tableau20"}, "legend": legend}
    return {
        "mark": {"type": "line", "strokeWidth": 1.5, "interpolate": "step"},
        "encoding": {
            "x": _inferences(inferences),
            "y": {"field": "value", "type": "quantitative", "axis": {"title": "value"}},
            "color": {"field": "element", "type": "nominal", **color},
            "tooltip": [shown("inference"), shown("element"), shown("value")],
        },
    }


def _map(names: Sequence[str], inferences: int) -> Spec:
    width = {"expr": f"max(width / {inferences}, 1) + 0.5"}  # without gaps
    return {
        "mark": {"type": "rect", "width": width},
        "encoding": {
            "x": _inferences(inferences),
            "y": {"field": "element", "type": "nominal", "sort": list(names), "axis": {"title": "element"}},
            "color": {"field": "value", "type": "quantitative", "scale": {"scheme": "viridis"}},
            "tooltip": [shown("inference"), shown("element"), shown("value")],
        },
    }


def _inferences(count: int) -> Spec:
    axis = {"title": "inference", "format": "d", "tickMinStep": 1, "grid": False}
    scale = {"domain": [-0.5, count - 0.5], "nice": False}
    return {"field": "inference", "type": "quantitative", "axis": axis, "scale": scale}
