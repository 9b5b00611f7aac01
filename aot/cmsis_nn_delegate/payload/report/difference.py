"""What grew from one report to another: `compare` reads the JSON of two reports of one kind.

Three kinds are known: the report of a compiled model (NAME.report.json), the size report of a firmware image
(IMAGE.size.json), and what `cmsisnn profile --json` prints. Each becomes groups of named numbers, and numbers of the
same group and name are compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

from ...errors import UserError
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


def compare(before: str, after: str, names: tuple[str, str] = ("the first", "the second")) -> Difference:
    """Compares two documents, the texts of JSON files. UserError, which calls them by `names`, if one of them is no
    report, or if they are of different kinds."""
    (kind, old), (other, new) = (_read(text, name) for text, name in zip((before, after), names))
    if kind != other:
        raise UserError(f"{names[0]} is {kind}, and {names[1]} is {other}: give two of one kind")
    subjects = tuple(_subject(json.loads(text)) for text in (before, after))
    totals, changes = [], []
    for group in dict.fromkeys((*old, *new)):
        numbers = old.get(group, {}), new.get(group, {})
        rows = [
            Change(group, name, *(side.get(name) for side in numbers))
            for name in dict.fromkeys((*numbers[0], *numbers[1]))
        ]
        if group == _TOTALS:
            totals = rows
        else:
            changed = (row for row in rows if row.difference)
            changes += sorted(changed, key=lambda row: (-abs(row.difference), row.name))
    return Difference(kind, subjects, tuple(totals), tuple(changes))


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


def _subject(document: Mapping[str, Any]) -> str:
    """Returns what a report is of, as far as it says so: its model and target."""
    return " for ".join(str(document[field]) for field in ("name", "target") if document.get(field))


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


def _read(text: str, name: str) -> tuple[str, Groups]:
    """Returns what kind of report the document is, and its numbers."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UserError(f"{name} is not JSON: {error}") from error
    if isinstance(document, dict):
        for kind, (fields, groups) in _KINDS.items():
            if fields <= document.keys():
                try:
                    return kind, groups(document)
                except (AttributeError, KeyError, TypeError) as error:
                    raise UserError(f"{name} looks like {kind}, but has other fields: write it again") from error
    raise UserError(f"{name} is none of these: {'; '.join(_KINDS)}")


def _model(document: Mapping[str, Any]) -> Groups:
    arena, calls = document["arena"], document["calls"]
    names = _names((call["kernel"], call.get("modules") or call["sources"]) for call in calls)
    predicted = {name: call.get("predicted_instructions") for name, call in zip(names, calls)}
    # Older reports have no predictions.
    total = document.get("prediction", {}).get("instructions")
    return {
        _TOTALS: {
            "arena, bytes": arena["nbytes"],
            "bound of the arena, bytes": arena["bound"],
            "payload, bytes": document["flash_bytes"],
            "multiplications": document["macs"],
            **({} if total is None else {"predicted instructions": total}),
            "calls": len(calls),
        },
        "payload by part, bytes": document["flash"],
        "constants by call, bytes": {name: call["constant_bytes"] for name, call in zip(names, calls)},
        "scratch memory by call, bytes": {name: call["scratch_bytes"] for name, call in zip(names, calls)},
        "multiplications by call": {name: call["macs"] for name, call in zip(names, calls)},
        "predicted instructions by call": {name: count for name, count in predicted.items() if count is not None},
    }


def _image(document: Mapping[str, Any]) -> Groups:
    flash, ram = document["flash"], document["ram"]
    objects: dict[str, int] = {}
    for part, sizes in flash["parts"].items():
        inner = sizes.get("objects") or {"": sizes["total"]}
        objects |= {f"{part}/{name}" if name else part: nbytes for name, nbytes in inner.items()}
    return {
        _TOTALS: {"flash, bytes": flash["total"], "RAM, bytes": ram["total"]},
        "flash by object, bytes": objects,
        "RAM by section, bytes": ram["sections"],
        "RAM by part, bytes": ram["parts"],
    }


def _profile(document: Mapping[str, Any]) -> Groups:
    calls = document["calls"]
    names = _names((call["kernel"], call["functions"] or call["modules"]) for call in calls)
    return {
        _TOTALS: {
            "inference, instructions": document["inference"],
            "init, instructions": document["init"],
            "executor, instructions": document["executor"],
        },
        "instructions by call": {name: call["instructions"] for name, call in zip(names, calls)},
    }


_KINDS: dict[str, tuple[set[str], Callable[[Mapping[str, Any]], Groups]]] = {
    "the report of a compiled model": ({"arena", "flash_bytes", "calls"}, _model),
    "the size report of an image": ({"flash", "ram"}, _image),
    "a profile": ({"inference", "executor", "calls"}, _profile),
}


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
