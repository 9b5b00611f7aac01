"""The files that belong to one compiled model: NAME.pte, NAME.payload.bin, NAME.graph.npz, ..."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import UserError
from .graph import serialize
from .graph.ir import Graph
from .payload.decode import Payload, PayloadError, decode

SUFFIXES = (".payload.bin", ".graph.npz", ".report.txt", ".report.json", ".pte", ".h", ".c")


@dataclass(frozen=True)
class Artifacts:
    """`folder`/`name` without a suffix. Methods read files; UserError says which is missing or broken."""

    folder: Path
    name: str

    @staticmethod
    def of(path: str) -> Artifacts:
        """Of any file of a compiled model, or of their common beginning (out/model)."""
        folder, name = Path(path).parent, Path(path).name
        for suffix in SUFFIXES:
            if name.endswith(suffix):
                if not Path(path).is_file():
                    raise UserError(f"{path} does not exist")
                return Artifacts(folder, name[: -len(suffix)])
        found = Artifacts(folder, name)
        if not any(found.path(suffix).is_file() for suffix in SUFFIXES):
            raise UserError(f"{path} is no compiled model: there is no {path}.pte or {path}.payload.bin")
        return found

    def path(self, suffix: str) -> Path:
        return self.folder / (self.name + suffix)

    def has(self, suffix: str) -> bool:
        return self.path(suffix).is_file()

    def read(self, suffix: str) -> bytes:
        path = self.path(suffix)
        if not path.is_file():
            raise UserError(
                f"{path} does not exist; `cmsisnn compile` writes it if the whole model becomes one "
                "delegate call"
            )
        return path.read_bytes()

    def payload(self) -> Payload:
        """The decoded payload; its `data` are the bytes."""
        data = self.read(".payload.bin")
        try:
            return decode(data)
        except PayloadError as error:
            raise UserError(f"{self.path('.payload.bin')}: {error}") from error

    def graph(self) -> tuple[Graph, dict[str, str]]:
        """The lowered graph, and the name, target and I/O placement it was compiled with."""
        data = self.read(".graph.npz")
        try:
            return serialize.loads(data)
        except ValueError as error:
            raise UserError(f"{self.path('.graph.npz')}: {error}") from error
