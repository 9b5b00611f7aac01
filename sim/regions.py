"""Regions of executed instructions between the markers of platforms/bsp/mark.h."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Region:
    """The code that ran between a MARK_BEGIN and its MARK_END; counts start at reset and exclude markers."""

    begin: int
    end: int
    children: list[Region] = dataclasses.field(default_factory=list)

    @property
    def instructions(self) -> int:
        """Returns the executed instructions, including those of the children."""
        return self.end - self.begin


@dataclasses.dataclass
class Trace:
    """The report of the instruction counter."""

    regions: list[Region]  # in order of their begin
    total: int | None  # executed instructions of the run; None if it was killed


def parse(text: str) -> Trace:
    """Reads the plugin's lines `begin <n>`, `end <n>`, `total <n>`.

    A region that did not end (the firmware left it by a fault or bsp_exit) is dropped, and its complete
    children take its place. Raises ValueError for an end without a begin.
    """
    top: list[Region] = []
    open_regions: list[Region] = []
    total = None
    for line in text.splitlines():
        event, _, number = line.partition(" ")
        if not number.isdecimal():
            continue  # The last line of a killed run may be incomplete.
        count = int(number)
        if event == "begin":
            region = Region(count, -1)
            (open_regions[-1].children if open_regions else top).append(region)
            open_regions.append(region)
        elif event == "end":
            if not open_regions:
                raise ValueError(f"MARK_END without MARK_BEGIN after {count} instructions")
            open_regions.pop().end = count
        elif event == "total":
            total = count
    return Trace(_completed(top), total)


def _completed(regions: list[Region]) -> list[Region]:
    result = []
    for region in regions:
        children = _completed(region.children)
        if region.end < 0:
            result += children
        else:
            result.append(Region(region.begin, region.end, children))
    return result
