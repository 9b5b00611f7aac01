"""The files that belong to one compiled model: NAME.pte, NAME.payload.bin, NAME.graph.npz, ...

Every file except the program names the payload that it was made with by its CRC-32; NAME.graph.npz also names
the program. Files of a model with several payloads, NAME.parts.json, NAME.kernels.h and NAME.report.html, name the
program instead. So a mixture of two compilations, left by a kill at the wrong moment or by a copy, is detected.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, TypeVar

from ..graph.ir import Graph
from ..payload.decode import Payload, PayloadError, decode
from ..support.errors import UserError, require_file
from ..support.structured import read_json, structured
from . import serialize

T = TypeVar("T")

PAGE_SUFFIX = ".report.html"
# What is known of a model that is not one payload.
PARTS_SUFFIX = ".parts.json"
# The calls as C++, which are written on request.
CPP_SUFFIXES = (".model.h", ".model.cc", ".sources.txt", ".portable.sources.txt")
# The forms of a model that can be written for firmware without ExecuTorch.
EMITS = ("payload", "cpp")
# A suffix that ends with another one stands before it.
SUFFIXES = (
    ".payload.bin",
    ".graph.npz",
    ".report.txt",
    ".report.json",
    PAGE_SUFFIX,
    PARTS_SUFFIX,
    ".pte",
    *reversed(CPP_SUFFIXES),
    ".kernels.h",
    ".h",
    ".c",
)
_AGAIN = "compile the model again"

# How text files name their payload.
_NAMED = {
    ".report.txt": re.compile(r"^payload CRC-32 ([0-9a-f]{8})$", re.MULTILINE),
    PAGE_SUFFIX: re.compile(r'<meta name="payload-crc32" content="([0-9a-f]{8})">'),
    ".h": re.compile(r"^#define \w+_CRC32 0x([0-9a-f]{8})u$", re.MULTILINE),
    **dict.fromkeys(
        (".sources.txt", ".portable.sources.txt"),
        re.compile(r"^-D\w+_SOURCES_CRC32=0x([0-9a-f]{8})u$", re.MULTILINE),
    ),
    **dict.fromkeys(
        (".model.h", ".model.cc", ".kernels.h", ".c"),
        re.compile(r"^#if \w+_CRC32 != 0x([0-9a-f]{8})u$", re.MULTILINE),
    ),
}

# How they name their program, if the model has several payloads.
_PROGRAM_NAMED = {
    PAGE_SUFFIX: re.compile(r'<meta name="program-crc32" content="([0-9a-f]{8})">'),
    ".kernels.h": re.compile(r"^// For the program ([0-9a-f]{8})\.$", re.MULTILINE),
}


def check_name(name: str) -> None:
    """Raises UserError if the names of these files and of C symbols cannot begin with `name`."""
    if not re.fullmatch(r"\w[\w.+-]*", name):
        raise UserError(
            f"{name!r} cannot be the name of a model: it becomes a part of file names and C symbols, so that it "
            "has letters, digits and '_', and behind the first of them '.', '+' and '-'"
        )
    if name.endswith(SUFFIXES):
        raise UserError(f"{name!r} cannot be the name of a model: its files get the suffix {_suffix(name)} themselves")
    longest = max(map(len, SUFFIXES))
    if len(name.encode()) + longest > 255:
        raise UserError(f"{name[:20]}... cannot be the name of a model: it has more than {255 - longest} bytes")


def _suffix(name: str) -> Optional[str]:
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def about_program(payload_crc32: int, program: bytes) -> dict[str, str]:
    """Returns what NAME.graph.npz says about the other files, for `Artifacts.check`."""
    return {"payload_crc32": f"{payload_crc32:08x}", "program_crc32": f"{zlib.crc32(program):08x}"}


@dataclass(frozen=True)
class About:
    """What is read of what NAME.graph.npz says of its compilation, as texts; `modules` is JSON. The options of the
    compiler, which are there too, are for people."""

    target: str
    payload_crc32: Optional[str] = None
    program_crc32: Optional[str] = None
    modules: str = "{}"


@dataclass(frozen=True)
class _NamesPayload:
    payload_crc32: str


@dataclass(frozen=True)
class _NamesProgram:
    program_crc32: str


@dataclass(frozen=True)
class Artifacts:
    """`folder`/`name` without a suffix. Methods read files; UserError says which is missing or broken."""

    folder: Path
    name: str

    @staticmethod
    def of(path: str) -> Artifacts:
        """Finds the files from any one of them, or from their common beginning (out/model)."""
        folder, name = Path(path).parent, Path(path).name
        suffix = _suffix(name)
        if suffix is not None:
            require_file(path)
            return Artifacts(folder, name[: -len(suffix)])
        found = Artifacts(folder, name)
        if not any(map(found.has, SUFFIXES)):
            raise UserError(f"{path} is no compiled model: there is no {path}.pte or {path}.payload.bin")
        return found

    def check(self) -> None:
        """Raises UserError if the existing files are from different compilations, or do not say from which."""
        payloads: dict[str, str] = {}
        programs: dict[str, str] = {}
        for suffix in SUFFIXES:
            if suffix == ".pte" or not self.has(suffix):
                continue
            program = self._named_program(suffix)
            if program is not None:
                self._check_program(suffix, program)
                programs[suffix] = program
                self._check_same(programs, suffix, "programs")
                continue
            crc = self._named_payload(suffix)
            if crc is None:
                raise UserError(f"{self.path(suffix)} does not say which payload it belongs to: {_AGAIN}")
            payloads[suffix] = crc
            self._check_same(payloads, suffix, "payloads")
        if ".graph.npz" in payloads:
            self._check_program(".graph.npz", self.graph()[1].program_crc32)
        if payloads and programs:
            # A compilation writes files of one kind only.
            whole, divided = next(iter(payloads)), next(iter(programs))
            raise UserError(
                f"{self.path(whole)} and {self.path(divided)} are from different compilations: the model was one "
                f"delegate call in the first and was not in the second: {_AGAIN}"
            )

    def _check_same(self, named: dict[str, str], suffix: str, what: str) -> None:
        """Compares what the file with `suffix` names with the first of those that `named` has."""
        first = next(iter(named))
        if named[suffix] != named[first]:
            raise UserError(
                f"{self.path(first)} and {self.path(suffix)} are from different compilations ({what} "
                f"{named[first]} and {named[suffix]}): {_AGAIN}"
            )

    def _check_program(self, suffix: str, crc: Optional[str]) -> None:
        if self.has(".pte") and crc != f"{zlib.crc32(self.read('.pte')):08x}":
            raise UserError(f"{self.path(suffix)} and {self.path('.pte')} are from different compilations: {_AGAIN}")

    def _named_program(self, suffix: str) -> Optional[str]:
        """Returns the CRC-32 of the program that a file of a model with several payloads belongs to, as 8 digits; None
        for other files."""
        if suffix == PARTS_SUFFIX:
            return self._read_json(suffix, _NamesProgram).program_crc32
        if suffix not in _PROGRAM_NAMED:
            return None
        match = _PROGRAM_NAMED[suffix].search(self.read(suffix).decode("utf-8", "replace"))
        return match and match[1]

    def _read_json(self, suffix: str, kind: type[T]) -> T:
        return structured(read_json(self.path(suffix), _AGAIN), kind, str(self.path(suffix)), _AGAIN)

    def _named_payload(self, suffix: str) -> Optional[str]:
        """Returns the CRC-32 of the payload that the file belongs to, as 8 digits; None if it names none."""
        if suffix == ".payload.bin":
            return f"{self.payload().crc32:08x}"
        if suffix == ".graph.npz":
            return self.graph()[1].payload_crc32
        if suffix == ".report.json":
            return self._read_json(suffix, _NamesPayload).payload_crc32
        match = _NAMED[suffix].search(self.read(suffix).decode("utf-8", "replace"))
        return match and match[1]

    def path(self, suffix: str) -> Path:
        return self.folder / (self.name + suffix)

    def checked_path(self, suffix: str) -> Path:
        """Returns the path of a file that exists. UserError says what writes it."""
        path = self.path(suffix)
        if not path.is_file():
            raise UserError(
                f"{path} does not exist; `cmsisnn compile` writes it if the whole model becomes one delegate call"
            )
        return path

    def has(self, suffix: str) -> bool:
        return self.path(suffix).is_file()

    def read(self, suffix: str) -> bytes:
        return self.checked_path(suffix).read_bytes()

    def payload(self) -> Payload:
        """Returns the decoded payload; its `data` are the bytes."""
        data = self.read(".payload.bin")
        try:
            return decode(data)
        except PayloadError as error:
            raise UserError(f"{self.path('.payload.bin')}: {error}") from error

    def graph(self) -> tuple[Graph, About]:
        """Returns the lowered graph, and what it was compiled with."""
        path, data = self.path(".graph.npz"), self.read(".graph.npz")
        try:
            graph, about = serialize.loads(data, str(path))
        except ValueError as error:
            raise UserError(f"{error}: {_AGAIN}") from error
        return graph, structured(about, About, f"{path}, about", _AGAIN)
