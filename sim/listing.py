"""The instructions of an image, as llvm-objdump lists them and llvm-mca reads them: `Listing`.

Standard library only.
"""

from __future__ import annotations

import bisect
import re

_LINE = re.compile(r"^ *([0-9a-f]+):\s+([a-z]\S*|<unknown>)(?:\s+([^@<]*))?")
_CONDITIONS = "eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_BRANCH = re.compile(rf"^(b|bl|blx|cbz|cbnz|tbb|tbh|bx|b({_CONDITIONS}))(\.[nw])?$")
_LOOP_START = re.compile(r"^(dls|wls)(tp\.\d+)?$")
_LOOP_END = re.compile(r"^le(tp)?$")
_OPENS = re.compile(r"(it|vpst|vpt)([te]{0,3})(\.\S+)?")
_SEVERAL = re.compile(r"^v?(ldm|stm|push|pop)")
_DOUBLE = re.compile(r"^(ldrd|strd)")
_DIVISION = re.compile(r"^[su]div")


class Instruction:
    """An instruction at an address. `text` is what llvm-mca prices, "" for what it shall not."""

    def __init__(self, address: int, mnemonic: str, operands: str) -> None:
        self.address = address
        self.mnemonic = mnemonic
        self._operands = operands.strip()
        self.ends_loop = bool(_LOOP_END.match(mnemonic))
        self.starts_loop = bool(_LOOP_START.match(mnemonic))
        opens = _OPENS.fullmatch(mnemonic)
        self.covers = len(opens[2]) + 1 if opens else 0  # by IT and VPT: next ones that are executed on a condition
        self.divides = bool(_DIVISION.match(mnemonic))

    @property
    def text(self) -> str:
        if self.ends_loop:
            return ""
        operands = self._operands
        if self.starts_loop:  # LLVM's models have none of these: they move the count to LR
            return f"mov.w lr, {operands.split(',')[1].strip()}"
        if _BRANCH.match(self.mnemonic):
            kind = self.mnemonic.partition(".")[0]
            if kind in ("cbz", "cbnz"):
                return f"{kind} {operands.split(',')[0]}, .Lelsewhere"
            if kind in ("tbb", "tbh", "bx"):
                return f"{kind} {operands}"
            # Calls as branches: llvm-mca would add what it thinks the function takes.
            return "b .Lelsewhere" if kind in ("bl", "blx") else f"{self.mnemonic} .Lelsewhere"
        return f"{self.mnemonic} {operands}".strip()

    def covering(self, count: int) -> str:
        """Returns the text of an IT or VPT that covers the first `count` of its instructions, "" for none."""
        opens = _OPENS.fullmatch(self.mnemonic)
        assert opens is not None, self.mnemonic
        return f"{opens[1]}{opens[2][: count - 1]}{opens[3] or ''} {self._operands}".strip() if count else ""

    @property
    def is_indirect(self) -> bool:
        """Returns whether it goes to an address that was computed."""
        kind = self.mnemonic.partition(".")[0]
        loads_pc = (kind.startswith(("pop", "ldm")) and "pc" in self._operands) or (
            kind.startswith("ldr") and self._operands.startswith("pc")
        )
        return loads_pc or kind in ("bx", "tbb", "tbh") or (kind == "blx" and self._operands.startswith(("r", "lr")))

    @property
    def words(self) -> int:
        """Returns the words that it loads or stores where LLVM's models count one access, else 0."""
        if _DOUBLE.match(self.mnemonic):
            return 2
        if not _SEVERAL.match(self.mnemonic):
            return 0
        names = self._operands[self._operands.find("{") + 1 : self._operands.find("}")].split(",")
        count = 0
        for name in names:
            first, _, last = name.strip().partition("-")
            count += int(last[1:]) - int(first[1:]) + 1 if last else 1
        return count * (2 if names[0].strip().startswith("d") else 1)


class Listing:
    """All instructions of an image."""

    def __init__(self, text: str) -> None:
        """`text` is what llvm-objdump --disassemble --no-show-raw-insn prints."""
        self._instructions = [
            Instruction(int(found[1], 16), found[2], found[3] or "")
            for line in text.splitlines()
            if (found := _LINE.match(line))
        ]
        self._addresses = [instruction.address for instruction in self._instructions]

    def block(self, address: int, count: int) -> list[Instruction]:
        """Returns `count` instructions from `address` on. ValueError if there are none."""
        at = bisect.bisect_left(self._addresses, address)
        found = self._instructions[at : at + count]
        if len(found) != count or found[0].address != address:
            raise ValueError(f"the listing of the image has no {count} instructions from {address:#x} on")
        return found

    def opened_before(self, address: int) -> list[Instruction]:
        """Returns the instructions from an IT or a VPT on to before `address`, if the one there is executed on the
        condition of these; else none."""
        at = bisect.bisect_left(self._addresses, address)
        for distance in range(1, 5):
            if at < distance:
                break
            opener = self._instructions[at - distance]
            if opener.covers:
                return self._instructions[at - distance : at] if distance <= opener.covers else []
        return []
