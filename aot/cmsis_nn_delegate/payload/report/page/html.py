"""Pieces of HTML that several sections are made of. Their arguments are HTML, too."""

from __future__ import annotations

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Returns a table. The columns `numbers` are aligned right."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag}{' class=number' if i in numbers else ''}>{cell}</{tag}>" for i, cell in enumerate(row))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return _scrolling(f"<table><thead><tr>{cells(heads, 'th')}</tr></thead><tbody>{body}</tbody></table>")


def sortable(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]], example: str) -> str:
    """Returns a table with the element id `name`, which table.js sorts by the headings, and filters by what is typed
    above it; `example` says what that may be."""
    titles = "".join(f"<th><button type=button>{title}</button></th>" for title in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return filtered(name, titles, body, example)


def filtered(name: str, titles: str, body: str, example: str) -> str:
    """Returns what `sortable` does, of cells that have their elements."""
    return (
        f"<input type=search data-filters={name} placeholder='Filter: {example}' aria-label='Filter this table'>"
        + _scrolling(f"<table id={name} data-sortable><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>")
    )


def _scrolling(table: str) -> str:
    """Returns a table that scrolls sideways where it is too wide, also by keys. table.js says so above it, and it has a
    shadow at the edge where it goes on."""
    return f"<div class=scroll tabindex=0 role=region aria-label='Table'>{table}</div>"


def bar(share: float) -> str:
    """Returns a bar that is filled to `share`, from 0 to 1."""
    return f"<span class=bar><span style='width:{min(max(share, 0.0), 1.0):.2%}'></span></span>"
