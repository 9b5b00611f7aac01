"""What grew from one report to another: `compare` reads the JSON of two reports of one kind.

Three kinds are known: the report of a compiled model (NAME.report.json), the size report of a firmware image
(IMAGE.size.json), and what `cmsisnn profile --json` prints. Each becomes groups of named numbers, and numbers of the
same group and name are compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional, Union

from ..support.errors import UserError
from ..support.structured import parse_json, structured
from .image_sizes import ImageSizes
from .text import table

Groups = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Change:
    """A number that is not the same in both reports; None where a report does not have it."""

    group: str
    name: str
    before: Optional[int]
    after: Optional[int]

    @property
    def difference(self) -> int:
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True)
class Difference:
    """What two reports differ in, for each group the largest changes first. `totals` are the numbers that sum up each
    report, whether they changed or not."""

    kind: str
    subjects: tuple[str, ...]  # what each report is of: "net for cortex-m55"
    totals: tuple[Change, ...]
    changes: tuple[Change, ...]

    def to_json(self) -> str:
        """Returns the fields, and each change's difference, as JSON with a final newline."""

        def plain(changes: Iterable[Change]) -> list[dict[str, Any]]:
            return [{**asdict(change), "difference": change.difference} for change in changes]

        document = {
            "schema": 1,
            "kind": self.kind,
            "subjects": list(self.subjects),
            "totals": plain(self.totals),
            "changes": plain(self.changes),
        }
        return json.dumps(document, indent=2) + "\n"


def compare(
    before: Union[str, bytes], after: Union[str, bytes], names: tuple[str, str] = ("the first", "the second")
) -> Difference:
    """Compares two documents, the texts of JSON files. UserError, which calls them by `names`, if one of them is no
    report, or if they are of different kinds."""
    (kind, old), (other, new) = (_read(text, name) for text, name in zip((before, after), names))
    if kind != other:
        raise UserError(f"{names[0]} is {kind}, and {names[1]} is {other}: give two of one kind")
    groups = old.groups, new.groups
    totals, changes = [], []
    for group in groups[0]:
        numbers = [side[group] for side in groups]
        rows = [
            Change(group, name, *(side.get(name) for side in numbers))
            for name in dict.fromkeys((*numbers[0], *numbers[1]))
        ]
        if group == _TOTALS:
            totals = rows
        else:
            changed = (row for row in rows if row.difference)
            changes += sorted(changed, key=lambda row: (-abs(row.difference), row.name))
    return Difference(kind, (old.subject, new.subject), tuple(totals), tuple(changes))


def render(difference: Difference) -> str:
    """Returns the difference as text for a terminal, with a final newline."""
    blocks = [_heading(difference)] if len(set(difference.subjects)) > 1 else []
    blocks.append("\n".join(table([("", "before", "after", "change"), *map(_cells, difference.totals)], left=[0])))
    for group, changes in _by_group(difference.changes):
        blocks.append("\n".join([group, *(f"  {line}" for line in table(list(map(_cells, changes)), left=[0]))]))
    if not difference.changes:
        blocks.append("nothing else differs")
    return "\n\n".join(blocks) + "\n"


def render_markdown(difference: Difference) -> str:
    """Returns the difference as Markdown for a pull request, with a final newline."""
    heading = ["| | before | after | change |", "|---|---:|---:|---:|"]
    lines = [_heading(difference), ""] if len(set(difference.subjects)) > 1 else []
    lines += [*heading, *(_markdown_row(row) for row in difference.totals)]
    for group, changes in _by_group(difference.changes):
        lines += ["", "<details>", f"<summary>{group}: {len(changes)} changed</summary>", "", *heading]
        lines += [*(_markdown_row(row) for row in changes), "", "</details>"]
    return "\n".join(lines) + "\n"


def _heading(difference: Difference) -> str:
    return f"before: {difference.subjects[0]}; after: {difference.subjects[1]}"


def _by_group(changes: Sequence[Change]) -> list[tuple[str, list[Change]]]:
    groups = dict.fromkeys(change.group for change in changes)
    return [(group, [change for change in changes if change.group == group]) for group in groups]


def _cells(change: Change) -> tuple[str, str, str, str]:
    before, after = ("-" if x is None else f"{x:,}" for x in (change.before, change.after))
    return change.name, before, after, _change(change)


def _markdown_row(change: Change) -> str:
    name, before, after, difference = _cells(change)
    return f"| {name.replace('|', chr(92) + '|')} | {before} | {after} | {difference} |"


def _change(change: Change) -> str:
    if not change.difference:
        return "0"
    share = f" ({100 * change.difference / change.before:+.1f} %)" if change.before else ""
    return f"{change.difference:+,}{share}"


# The kinds of reports -----------------------------------------------------------

_TOTALS = "totals"


@dataclass(frozen=True)
class _Arena:
    nbytes: int
    bound: int


@dataclass(frozen=True)
class _Prediction:
    instructions: Optional[int] = None


@dataclass(frozen=True)
class _Call:
    kernel: str
    sources: tuple[str, ...]
    macs: int
    constant_bytes: int
    scratch_bytes: int
    modules: tuple[str, ...] = ()
    predicted_instructions: Optional[int] = None


@dataclass(frozen=True)
class _Model:
    """What is compared of a `Report`, also of those that older versions wrote, which have no predictions."""

    arena: _Arena
    flash: dict[str, int]
    flash_bytes: int
    macs: int
    calls: tuple[_Call, ...]
    prediction: _Prediction = _Prediction()
    name: str = ""
    target: str = ""

    @property
    def subject(self) -> str:
        return " for ".join(part for part in (self.name, self.target) if part)

    @property
    def groups(self) -> Groups:
        names = _names((call.kernel, call.modules or call.sources) for call in self.calls)
        calls = dict(zip(names, self.calls))
        total, predicted = self.prediction.instructions, {n: call.predicted_instructions for n, call in calls.items()}
        return {
            _TOTALS: {
                "arena, bytes": self.arena.nbytes,
                "bound of the arena, bytes": self.arena.bound,
                "payload, bytes": self.flash_bytes,
                "multiplications": self.macs,
                **({} if total is None else {"predicted instructions": total}),
                "calls": len(calls),
            },
            "payload by part, bytes": self.flash,
            "constants by call, bytes": {name: call.constant_bytes for name, call in calls.items()},
            "scratch memory by call, bytes": {name: call.scratch_bytes for name, call in calls.items()},
            "multiplications by call": {name: call.macs for name, call in calls.items()},
            "predicted instructions by call": {name: count for name, count in predicted.items() if count is not None},
        }


@dataclass(frozen=True)
class _Image(ImageSizes):
    @property
    def subject(self) -> str:
        return ""

    @property
    def groups(self) -> Groups:
        objects: dict[str, int] = {}
        for part, sizes in self.flash.parts.items():
            inner = sizes.objects or {"": sizes.total}
            objects |= {f"{part}/{name}" if name else part: nbytes for name, nbytes in inner.items()}
        return {
            _TOTALS: {"flash, bytes": self.flash.total, "RAM, bytes": self.ram.total},
            "flash by object, bytes": objects,
            "RAM by section, bytes": self.ram.sections,
            "RAM by part, bytes": self.ram.parts,
        }


@dataclass(frozen=True)
class _ProfiledCall:
    kernel: str
    functions: tuple[str, ...]
    modules: tuple[str, ...]
    instructions: int


@dataclass(frozen=True)
class _Profile:
    """What is compared of a `runner.profile.Profile`."""

    inference: int
    init: int
    executor: int
    calls: tuple[_ProfiledCall, ...]
    name: str = ""

    @property
    def subject(self) -> str:
        return self.name

    @property
    def groups(self) -> Groups:
        names = _names((call.kernel, call.functions or call.modules) for call in self.calls)
        return {
            _TOTALS: {
                "inference, instructions": self.inference,
                "init, instructions": self.init,
                "executor, instructions": self.executor,
            },
            "instructions by call": {name: call.instructions for name, call in zip(names, self.calls)},
        }


# By kind: the fields by which a document is recognized, most of which a damaged one still has, and what it is read as.
_KINDS: dict[str, tuple[set[str], type[Union[_Model, _Image, _Profile]]]] = {
    "the report of a compiled model": ({"arena", "flash_bytes", "macs"}, _Model),
    "the size report of an image": ({"flash", "ram", "memories"}, _Image),
    "a profile": ({"inference", "executor", "init"}, _Profile),
}


def _read(text: Union[str, bytes], name: str) -> tuple[str, Union[_Model, _Image, _Profile]]:
    """Returns what kind of report the document is, and what is compared of it."""
    document = parse_json(text, name)
    found = {kind: len(fields & document.keys()) for kind, (fields, _) in _KINDS.items()}
    kind = max(found, key=found.__getitem__)
    if not found[kind]:
        raise UserError(f"{name} is none of these: {'; '.join(_KINDS)}")
    return kind, structured(document, _KINDS[kind][1], f"{name}, {kind}", "write it again")


def _names(calls: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Returns a name for each call that stays the same when other calls come and go: that of what it computes, in the
    user's program. Equal names are numbered."""
    seen: Counter[str] = Counter()
    names = []
    for kernel, computed in calls:
        name = computed[-1] if computed else kernel
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names
