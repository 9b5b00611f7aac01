"""Pieces of HTML that several sections are made of. Their arguments are HTML, too."""

from __future__ import annotations

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Returns a table. The columns `numbers` are aligned right."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag}{' class=number' if i in numbers else ''}>{cell}</{tag}>" for i, cell in enumerate(row))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<div class=scroll><table><thead><tr>{cells(heads, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"


def bar(share: float) -> str:
    """Returns a bar that is filled to `share`, from 0 to 1."""
    return f"<span class=bar><span style='width:{min(max(share, 0.0), 1.0):.2%}'></span></span>"
