"""Makes the page: one file that loads nothing, with styles, scripts, charts and the report itself inside.

The texts are in `templates/`. Jinja escapes every value in them, so names from models stay text.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Any, NamedTuple, Optional, Union

from jinja2 import Environment, PackageLoader, StrictUndefined

from .. import difference
from ..image_sizes import ImageSizes
from . import charts, graph, image, library
from .outputs import Recorded, over_time

Document = Mapping[str, Any]

NO_LIMITS: Mapping[str, int] = MappingProxyType({})


def render(
    report: Document,
    profile: Optional[Document] = None,
    against: Optional[Document] = None,
    *,
    accuracy: Optional[Document] = None,
    firmware: Optional[tuple[str, ImageSizes]] = None,
    limits: Mapping[str, int] = NO_LIMITS,
    outputs: Recorded = (),
) -> str:
    """Returns the page as HTML. `from_json`, `image_sizes`, `runner.profile`, `accuracy.report` and `outputs`
    read the documents and check their fields.

    profile: without it the page has no instructions.
    against: an earlier report, of which the page shows the differences.
    accuracy: without it the page has no noise.
    firmware: the name and the sizes of an image; without it the page shows the payload's flash alone.
    limits: in bytes, of "arena" and "flash".
    outputs: of a run, drawn over time.

    UserError if the package with the charts' scripts is missing.
    """
    shown = shown_of(report, profile, against)
    drawn = shown["charts"] if firmware is None else {**shown["charts"], "flash-map": image.flash_map(firmware[1])}
    recorded = {f"outputs-{index}": over_time(values) for index, values in enumerate(outputs)}
    drawn = drawn | {name: chart for name, (chart, _) in recorded.items()}
    left_out = {name: note for name, (_, note) in recorded.items()}
    documents = {"report": report, "profile": profile, "accuracy": accuracy, "charts": drawn}
    return page(documents, **shown, parts=None, accuracy=accuracy, firmware=firmware, limits=limits, recorded=left_out)


def shown_of(
    report: Document, profile: Optional[Document], against: Optional[Document], prefix: str = ""
) -> dict[str, Any]:
    """Returns what report.html shows of a report; the ids of its elements begin with `prefix`."""
    work = _work(report, profile)
    drawn: dict[str, charts.Spec] = {"memory-arena": charts.memory(report, "arena")}
    for memory in report.get("memories", ()):  # documents of earlier compilers have none
        if memory["region"] != "arena" and memory["nbytes"]:
            drawn[f"memory-{memory['region']}"] = charts.memory(report, memory["region"])
    if charts.kept_bytes(report):
        drawn["memory-persistent"] = charts.memory(report, "persistent")
    drawn["by-call"] = charts.by_call(work.counts, report["calls"], work.unit)
    if "tensors" in report:  # documents of earlier compilers have none
        drawn["graph"] = graph.graph(report)
    drawn = {prefix + name: chart for name, chart in drawn.items()}
    return {
        "report": report,
        "profile": profile,
        "against": against,
        "prefix": prefix,
        "charts": drawn,
        "work": work,
    }


class Work(NamedTuple):
    """What the calls of a model are compared by."""

    counts: Sequence[int]  # of each call
    total: int  # of which they are a share
    unit: str
    described: str


def _work(report: Document, profile: Optional[Document]) -> Work:
    """Returns the measured instructions, else the predicted ones, else the multiplications."""
    if profile is not None:
        counts = [call["instructions"] for call in profile["calls"]]
        return Work(counts, profile["inference"], "instructions", "all executed instructions")
    known = report.get("prediction", {}).get("instructions") is not None
    key, unit = ("predicted_instructions", "predicted instructions") if known else ("macs", "multiplications")
    counts = [call[key] for call in report["calls"]]
    return Work(counts, max(sum(counts), 1), unit, f"{unit}, for lack of a profile")


def page(documents: Mapping[str, object], **shown: object) -> str:
    """Returns an HTML file that shows `shown` and contains the documents, of which "charts" are drawn."""
    notice = library.notice().replace("-->", "--")
    template = templates().get_template("page.html")
    return template.render(shown, documents=documents, library=inline(library.scripts()), notice=notice)


@functools.cache
def templates() -> Environment:
    """Returns the templates of all pages."""
    found = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(form=_form, shape=lambda dims: "×".join(map(str, dims)) or "scalar")
    found.globals.update(changes=_changes, file=read_file)
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return found


def _form(value: Union[int, float, None], spec: str = ",", none: str = "") -> str:
    return none if value is None else format(value, spec)


def _changes(against: Document, report: Document) -> dict[str, list[difference.Change]]:
    """Returns what differs from the report `against`, by group."""
    found = difference.compare(json.dumps(against), json.dumps(report))
    groups: dict[str, list[difference.Change]] = {}
    for change in (*found.totals, *found.changes):
        if change.difference:
            groups.setdefault(change.group, []).append(change)
    return groups


def read_file(name: str) -> str:
    """Returns the text of a file beside this one."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def inline(script: str) -> str:
    """Checks that a script can stand inside of an element."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a script would end its own element")
    return script
