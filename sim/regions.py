"""Regions of executed instructions between the markers of platforms/bsp/mark.h."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Region:
    """The code that ran between a MARK_BEGIN and its MARK_END; counts start at reset and exclude markers."""

    begin: int
    end: int
    children: list[Region] = dataclasses.field(default_factory=list)
    cycles: tuple[int, int] | None = None  # modelled, at least and at most; None if they were not modelled
    flash_waits: tuple[int, int] | None = None  # what flash adds to them, likewise

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
    """Reads the plugin's lines `begin <n>`, `end <n>`, `total <n>`, which may have two or four more numbers: the least
    and the most cycles so far, and the least and the most waits for flash.

    A region that did not end (the firmware left it by a fault or bsp_exit) is dropped, and its complete
    children take its place. Raises ValueError for an end without a begin.
    """
    top: list[Region] = []
    open_regions: list[Region] = []
    total = None
    for line in text.splitlines():
        event, *numbers = line.split(" ")
        if len(numbers) not in (1, 3, 5) or not all(number.isdecimal() for number in numbers):
            continue  # The last line of a killed run may be incomplete.
        count, *bounds = map(int, numbers)
        cycles, waits = ((p[0], p[1]) if len(p) == 2 else None for p in (bounds[:2], bounds[2:]))
        if event == "begin":
            region = Region(count, -1, cycles=cycles, flash_waits=waits)
            (open_regions[-1].children if open_regions else top).append(region)
            open_regions.append(region)
        elif event == "end":
            if not open_regions:
                raise ValueError(f"MARK_END without MARK_BEGIN after {count} instructions")
            region = open_regions.pop()
            region.end = count
            region.cycles = _difference(cycles, region.cycles)
            region.flash_waits = _difference(waits, region.flash_waits)
        elif event == "total":
            total = count
    return Trace(_completed(top), total)


def _difference(end: tuple[int, int] | None, begin: tuple[int, int] | None) -> tuple[int, int] | None:
    return None if end is None or begin is None else (end[0] - begin[0], end[1] - begin[1])


def _completed(regions: list[Region]) -> list[Region]:
    result = []
    for region in regions:
        children = _completed(region.children)
        if region.end < 0:
            result += children
        else:
            result.append(dataclasses.replace(region, children=children))
    return result
