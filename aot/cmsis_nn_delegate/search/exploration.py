"""What can be traded against what: `Exploration`, as data, as text and as JSON. Needs no PyTorch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ..payload.encode import Encoded
from ..targets.board import Board
from .limits import Figures
from .result import Price

SCHEMA = 1


@dataclass(frozen=True)
class Point:
    """A way to compile the model. formats: in words, such as "int16 in 3 of 12 modules". quantizer_file: the text of a
    file for `--quantizer` with these formats. arguments: further ones of `compile`. obstacles: why it does not fit the
    board, a sentence each; none if it fits, or if there is no board. parts: what is delegated, as it is encoded."""

    formats: str
    quantizer_file: str
    arguments: str
    figures: Figures
    price: Price
    obstacles: tuple[str, ...]
    parts: tuple[Encoded, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """Returns what is to be little: instructions, flash, RAM, and less signal to noise and right labels. A tenth of
        a decibel is no difference."""
        sqnr = float("inf") if self.figures.sqnr is None else round(self.figures.sqnr, 1)
        return (self.price.priced, self.price.flash, self.price.ram, -sqnr, -self.figures.right)


@dataclass(frozen=True)
class Exploration:
    """`points` are all that were compiled. exact: the float model's figures."""

    model: str
    target: str
    board: Optional[Board]
    exact: Figures
    points: tuple[Point, ...]

    @property
    def front(self) -> list[Point]:
        """Returns the points that no other one beats: that is nowhere worse, and somewhere better. Of equal ones it has
        the first. They are sorted by instructions."""
        found: list[Point] = []
        for point in self.points:
            if not any(_beats(other, point) for other in self.points) and not any(
                other.values == point.values for other in found
            ):
                found.append(point)
        return sorted(found, key=lambda point: point.values)

    def document(self, commands: Sequence[str], cycles: Sequence[Optional[tuple[int, int]]] = ()) -> dict[str, Any]:
        """Returns the front as data. `commands` are those that compile its points, `cycles` what they take, at least
        and at most, if that was modelled; None where it could not be."""
        front = self.front
        return {
            "schema": SCHEMA,
            "model": self.model,
            "target": self.target,
            "board": None
            if self.board is None
            else {"name": self.board.name, "flash": self.board.flash_bytes, "ram": self.board.memories["RAM"].nbytes},
            "labels": self.exact.rows,
            "compiled": len(self.points),
            "points": [
                {
                    "formats": point.formats,
                    "arguments": point.arguments,
                    "command": command,
                    "instructions": point.price.instructions,
                    "cycles": None if between is None else list(between),
                    "flash": point.price.flash,
                    "ram": point.price.ram,
                    "sqnr": point.figures.sqnr,
                    "top1": point.figures.top1,
                    "fits": None if self.board is None else not point.obstacles,
                    "obstacles": list(point.obstacles),
                }
                for point, command, between in zip(front, commands, cycles or [None] * len(front), strict=True)
            ],
        }


def _beats(other: Point, point: Point) -> bool:
    return other.values != point.values and all(a <= b for a, b in zip(other.values, point.values))


def obstacles(price: Price, board: Optional[Board]) -> tuple[str, ...]:
    """Returns why a model with this price does not fit a board."""
    if board is None:
        return ()
    limits = (("flash", price.flash, board.flash_bytes), ("RAM", price.ram, board.memories["RAM"].nbytes))
    return tuple(
        f"{name}: {taken:,} bytes, {taken - limit:,} more than {board.name} has"
        for name, taken, limit in limits
        if taken > limit
    )


def to_json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def render(document: dict[str, Any]) -> str:
    """Returns the front as a table."""
    labelled, board = document["labels"] > 0, document["board"]
    modelled = any(point["cycles"] for point in document["points"])
    rows = [["", "formats", "options", "instructions", "cycles", "flash", "RAM", "SQNR", "top-1", ""]]
    for number, point in enumerate(document["points"], 1):
        rows.append(
            [
                str(number),
                point["formats"],
                point["arguments"] or "-",
                "-" if point["instructions"] is None else f"{point['instructions']:,}",
                "-" if point["cycles"] is None else "{:,} to {:,}".format(*point["cycles"]),
                f"{point['flash']:,}",
                f"{point['ram']:,}",
                "-" if point["sqnr"] is None else f"{point['sqnr']:.1f} dB",
                "-" if point["top1"] is None else f"{100 * point['top1']:.2f} %",
                "" if board is None else "fits" if point["fits"] else "; ".join(point["obstacles"]),
            ]
        )
    if not labelled:
        rows = [[*row[:8], *row[9:]] for row in rows]
    if not modelled:
        rows = [[*row[:4], *row[5:]] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    texts = {1, 2, len(rows[0]) - 1}
    lines = [
        f"{document['model']} on {document['target']}: {len(document['points'])} of {document['compiled']} "
        "compilations that no other one beats"
    ]
    if board is not None:
        lines.append(
            f"Board {board['name']} has {board['flash']:,} bytes of flash and {board['ram']:,} of RAM, of which "
            "firmware takes a part"
        )
    lines += [
        "  ".join(
            cell.ljust(width) if column in texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"
