"""The page's sections as HTML. Every figure comes from the report or the profile."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, Optional

from .. import difference
from . import html, quantization

Document = Mapping[str, Any]

NO_LIMITS: Mapping[str, int] = MappingProxyType({})
_FEW_ROWS = 8  # longer tables of changes are folded


def heading(report: Document, profile: Optional[Document]) -> str:
    """Returns the title and what was compiled."""
    measured = ""
    if profile is not None:
        measured = (
            f"<p class=faint>Instructions: counted in {escape(profile['simulator'])} on {escape(profile['core'])}, "
            f"kernels {escape(profile['kernels'])}, standalone executor, {escape(profile['inputs'])}. Instructions are "
            "not cycles.</p>"
        )
    return f"<h1>{escape(report['name'])}</h1>{about(report)}{measured}"


def about(report: Document) -> str:
    """Returns what was compiled."""
    facts = [
        f"for {report['target']} ({report['isa']} kernels of CMSIS-NN {report['cmsis_nn'][:8]})",
        f"{len(report['calls'])} kernel calls",
        *([f"quantizer {report['quantizer']}"] if report["quantizer"] else []),
        f"payload CRC-32 {report['payload_crc32']}",
    ]
    return f"<p class=faint>{escape(' · '.join(facts))}</p>"


def summary(
    report: Document,
    profile: Optional[Document],
    against: Optional[Document],
    accuracy: Optional[Document] = None,
    limits: Mapping[str, int] = NO_LIMITS,
) -> str:
    """Returns the figures that matter most, with the differences to the report `against`, and bars up to the `limits`
    in bytes of "arena" and "flash"."""
    arena = report["arena"]
    gap = f"{arena['gap']:,} above the lower bound of {arena['bound']:,}" if arena["gap"] else "no plan can take less"
    placed = "with" if arena["io_placement"] == "arena" else "without"
    tiles = [
        tile(
            "RAM: arena",
            arena["nbytes"],
            "bytes",
            f"{gap}; {placed} inputs and outputs",
            _of(against, "arena", "nbytes"),
            limits.get("arena"),
        ),
        tile(
            "Flash: payload",
            report["flash_bytes"],
            "bytes",
            _largest(report),
            _of(against, "flash_bytes"),
            limits.get("flash"),
        ),
        tile("Work", report["macs"], "multiplications", _predicted(report), _of(against, "macs")),
    ]
    tiles[1:1] = [
        tile(
            f"RAM: {memory['name']}",
            memory["nbytes"],
            "bytes",
            f"of {memory['limit']:,}; an inference touches {memory['touched']:,}",
            None,
            memory["limit"],
        )
        for memory in report.get("memories", ())
        if memory["region"] != "arena"
    ]
    if report.get("copies"):
        copies = report["copies"]
        note = f"in {copies['memory']}, copied by init()"
        old = (against or {}).get("copies") or {}
        tiles.append(tile("RAM: copies of constants", copies["nbytes"], "bytes", note, old.get("nbytes")))
    if report["persistent_bytes"]:
        kept = "kept between inferences"
        tiles.insert(1, tile("RAM: state", report["persistent_bytes"], "bytes", kept, _of(against, "persistent_bytes")))
    if profile is not None:
        outside = f"{profile['executor']:,} of them outside of kernels"
        tiles.append(tile("An inference", profile["inference"], "instructions", outside))
        if profile.get("cycles"):
            low, high = profile["cycles"]
            tiles.append(tile("Modelled cycles", high, "cycles at most", f"at least {low:,}"))
        crc = f"and {profile['crc']:,} to check the CRC"
        tiles.append(tile("init()", profile["init"], "instructions", crc))
    if accuracy is not None:
        tiles.append(text_tile("Accuracy", *quantization.figures(accuracy)))
    return f"<div class=tiles>{''.join(tiles)}</div>"


def _predicted(report: Document) -> str:
    found = report.get("prediction", {})
    if found.get("instructions") is None:
        return "instructions not predicted"
    within = "" if found["largest_error"] is None else f", within {found['largest_error']:.0%}"
    return f"about {found['instructions']:,} instructions predicted{within}"


def changes(report: Document, against: Document) -> str:
    """Returns tables of what differs from the report `against`."""
    found = difference.compare(json.dumps(against), json.dumps(report))
    other = escape(f"{against['name']} for {against['target']}, payload {against['payload_crc32']}")
    differing = [change for change in (*found.totals, *found.changes) if change.difference]
    if not differing:
        return f"<h2>Changes</h2><p>None against {other}.</p>"
    text = f"<h2>Changes</h2><p class=faint>Against {other}. What is not listed is equal.</p>"
    for group in dict.fromkeys(change.group for change in differing):
        rows = [
            [escape(change.name), _known(change.before), _known(change.after), _difference(change)]
            for change in differing
            if change.group == group
        ]
        table = html.table([escape(group), "before", "now", "difference"], rows, numbers=(1, 2, 3))
        shut = "" if len(rows) <= _FEW_ROWS else f"<details><summary>{escape(group)}: {len(rows)} changed</summary>"
        text += f"{shut}{table}{'</details>' if shut else ''}"
    return text


def peak(report: Document) -> str:
    """Returns what lives in the arena when it is fullest."""
    arena = report["arena"]
    if not report["calls"]:
        return ""
    call = report["calls"][arena["peak_call"]]
    live = [b for b in arena["buffers"] if b["region"] == "arena" and b["first"] <= call["index"] <= b["last"]]
    rows = [[escape(b["name"]), escape(b["kind"]), f"{b['nbytes']:,}", f"{b['offset']:,}", _lifetime(b)] for b in live]
    note = (
        f"<p>The <b>peak is call {call['index']}</b>, {escape(call['kernel'])}{_where(call)}, with "
        f"{arena['bound']:,} live bytes in these buffers. Buffers overlap where a kernel "
        "writes over what it has read already.</p>"
    )
    return note + html.table(["buffer", "", "bytes", "address", "lives in calls"], rows, numbers=(2, 3))


def buffers(report: Document, name: str = "buffers") -> str:
    """Returns the table of all buffers, with the element id `name`: what the charts of memory show where one points."""
    found = report["arena"]["buffers"]
    rows = [
        "<tr>"
        f"<td class=name>{escape(b['name'])}</td><td>{escape(b['kind'])}</td><td>{escape(b['region'])}</td>"
        f"{_number(b['nbytes'])}{_number(b['offset'])}{_number(b['first'])}{_number(b['last'])}"
        f"<td>{escape('' if b['kind'] == 'scratch' else b['dtype'] + ' ' + shape(b['shape']))}</td></tr>"
        for b in found
    ]
    heads = ["name", "kind", "memory", "bytes", "address", "from call", "to call", "type"]
    titles = "".join(
        f"<th{' class=number' if 3 <= i <= 6 else ''}><button type=button>{title}</button></th>"
        for i, title in enumerate(heads)
    )
    table = html.filtered(name, titles, "".join(rows), "features.3, scratch, input …")
    return f"<details><summary>All {len(found)} buffers as a table</summary>{table}</details>"


def calls(report: Document, profile: Optional[Document], name: str = "calls") -> str:
    """Returns the table of calls with the element id `name`. The share is that of measured instructions, else of
    predicted ones, else of multiplications."""
    predicted = [c.get("predicted_instructions") for c in report["calls"]]
    if profile is not None:
        counts, of_what = [c["instructions"] for c in profile["calls"]], "all executed instructions"
    elif None not in predicted:
        counts, of_what = predicted, "predicted instructions, for lack of a profile"
    else:
        counts, of_what = [c["macs"] for c in report["calls"]], "multiplications, for lack of a profile"
    total = profile["inference"] if profile is not None else max(sum(counts), 1)
    heads = ["call", "kernel", "module", "shape", "provider", "multiplications", "constants", "scratch", "live"]
    numbers = [0, 5, 6, 7, 8]
    cycles = profile is not None and bool(profile.get("cycles"))
    heads += ["instructions"] * (profile is not None) + ["cycles at most"] * cycles + ["predicted"]
    numbers += range(9, len(heads))
    heads.append("share")
    longest = max([*counts, 1])
    rows = []
    for call, count in zip(report["calls"], counts):
        cells = [
            _number(call["index"]),
            f"<td><code>{escape(call['kernel'])}</code></td>",
            f"<td class=name>{_modules(call)}</td>",
            f"<td class=shape>{_shapes(call['inputs'])}<br>→ {_shapes(call['outputs'])}"
            f"<br><span class=faint>{escape(_types(call))}</span></td>",
            f"<td>{_provider(call)}</td>",
            *(_number(call[key]) for key in ("macs", "constant_bytes", "scratch_bytes", "live_bytes")),
        ]
        if profile is not None:
            cells.append(_number(count))
            if cycles:
                cells.append(_number(profile["calls"][call["index"]]["cycles"][1]))
        expected = predicted[call["index"]]
        cells.append("<td class=number data-value=-1>not predicted</td>" if expected is None else _number(expected))
        share = count / total if total else 0.0
        cells.append(f"<td class=number data-value={share:.9f}>{share:.1%}{html.bar(count / longest)}</td>")
        marked = " class=peak" if call["index"] == report["arena"]["peak_call"] else ""
        rows.append(f"<tr{marked}>{''.join(cells)}</tr>")
    head = "".join(
        f"<th{' class=number' if i in numbers or i == len(heads) - 1 else ''}><button type=button>{title}</button></th>"
        for i, title in enumerate(heads)
    )
    return (
        f"<h2>Calls</h2><p class=faint>Constants, scratch and live memory in bytes; the share is that of {of_what}. "
        "Press a heading to sort. The mark is at the peak of the arena.</p>"
        + html.filtered(name, head, "".join(rows), "conv2d, portable, features.3 …")
    )


def flash(report: Document) -> str:
    """Returns the payload's flash by part."""
    total = report["flash_bytes"] or 1
    parts = sorted(report["flash"].items(), key=lambda item: -item[1])
    rows = [[escape(part), f"{size:,}", f"{size / total:.1%}{html.bar(size / total)}"] for part, size in parts]
    rows.append(["<b>payload</b>", f"<b>{report['flash_bytes']:,}</b>", ""])
    note = (
        "<p class=faint>Of the payload alone. The kernels and the runtime come on top, once for all models of an "
        "image.</p>"
    )
    return "<h2>Flash</h2>" + note + html.table(["part", "bytes", "share"], rows, numbers=(1, 2))


def interface(report: Document) -> str:
    """Returns the inputs and outputs."""
    rows = []
    for kind in ("input", "output"):
        tensors = report[f"{kind}s"]
        for index, tensor in enumerate(tensors):
            name = tensor["name"] if kind == "input" else "output" if len(tensors) == 1 else f"output {index}"
            scale = "" if tensor["scale"] is None else f"real = {tensor['scale']:.9g} × (q − {tensor['zero_point']})"
            place = "caller's memory" if tensor["arena_offset"] is None else f"arena + {tensor['arena_offset']:,}"
            cells = [kind, name, f"{tensor['dtype']} {shape(tensor['shape'])}", tensor["layout"], scale, place]
            rows.append([escape(cell) for cell in cells])
    return "<h2>Inputs and outputs</h2>" + html.table(["", "name", "type", "layout", "meaning", "place"], rows)


def left_out(report: Document) -> str:
    """Returns what passes have left out, "" if nothing."""
    if not report["left_out"]:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in report["left_out"])
    return f"<h2>Left out, without a change of any result</h2><ul>{lines}</ul>"


def shape(dims: Iterable[int]) -> str:
    return "×".join(map(str, dims)) or "scalar"


def tile(
    label: str, value: int, unit: str, note: str, before: Optional[int] = None, limit: Optional[int] = None
) -> str:
    """Returns a figure of a summary, with the difference to what it was `before`, and a bar up to `limit`."""
    change = ""
    if before is not None:
        shown = _difference(difference.Change("", label, before, value)) if before != value else "unchanged"
        change = f"<div class=note>{shown}</div>"
    if limit is not None:
        used = f"{value / limit:.1%}" if limit else "more"
        kind = "budget" if value <= limit else "budget exceeded"
        change += (
            f"<div class='{kind}'>{html.bar(value / max(limit, 1))}"
            f"<div class=note>{used} of the limit of {limit:,}</div></div>"
        )
    return text_tile(label, f"{value:,}", unit, note, change)


def text_tile(label: str, figure: str, unit: str, note: str, more: str = "") -> str:
    """Returns a tile; `more` is HTML."""
    return (
        f"<div class=tile><div class=label>{escape(label)}</div><div class=figure>{escape(figure)} "
        f"<span class=unit>{escape(unit)}</span></div><div class=note>{escape(note)}</div>{more}</div>"
    )


def _difference(change: difference.Change) -> str:
    share = f" ({change.difference / change.before:+.1%})" if change.before else ""
    return f"<span class={'better' if change.difference < 0 else 'worse'}>{change.difference:+,}{share}</span>"


def _known(value: Optional[int]) -> str:
    return "–" if value is None else f"{value:,}"


def _of(document: Optional[Document], *keys: str) -> Optional[int]:
    found: Any = document
    for key in keys:
        found = None if found is None else found[key]
    return None if found is None else int(found)


def _largest(report: Document) -> str:
    part, size = max(report["flash"].items(), key=lambda item: item[1])
    return f"most of it {part}: {size:,}"


def _where(call: Document) -> str:
    return f" of {escape(call['modules'][0])}" if call["modules"] else ""


def _lifetime(buffer: Document) -> str:
    return f"{buffer['first']}" if buffer["first"] == buffer["last"] else f"{buffer['first']} to {buffer['last']}"


def _modules(call: Document) -> str:
    lines = f"<br><span class=faint>{escape(', '.join(call['lines']))}</span>" if call["lines"] else ""
    return ("<br>".join(map(escape, call["modules"])) or f"<span class=faint>{escape(call['op'])}</span>") + lines


def _types(call: Document) -> str:
    types = [*dict.fromkeys(call["input_types"])], [*dict.fromkeys(call["output_types"])]
    return (
        types[0][0] if types[0] == types[1] and len(types[0]) == 1 else f"{', '.join(types[0])} → {', '.join(types[1])}"
    )


def _shapes(shapes: Sequence[Sequence[int]]) -> str:
    return ", ".join(map(shape, shapes))


def _provider(call: Document) -> str:
    if not call["why"]:
        return escape(call["provider"])
    return f"<details class=why><summary>{escape(call['provider'])}</summary>{escape(call['why'])}</details>"


def _number(value: int) -> str:
    return f"<td class=number data-value={value}>{value:,}</td>"
