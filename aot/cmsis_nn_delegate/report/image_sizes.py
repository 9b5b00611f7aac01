"""The sizes of a firmware image, as they are built beside it: IMAGE.size.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

from ..support.errors import UserError
from ..support.structured import read_json, structured

_ADVICE = "give the IMAGE.size.json that is built beside IMAGE.elf"


@dataclass(frozen=True)
class PartSizes:
    """Bytes of flash of a package or library, by what they hold and by object file."""

    total: int
    code: int = 0
    constants: int = 0
    initial: int = 0  # values of variables
    objects: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FlashSizes:
    total: int
    parts: dict[str, PartSizes]


@dataclass(frozen=True)
class RamSizes:
    """Bytes by section and by part; `total` is without the arena."""

    total: int
    sections: dict[str, int]
    parts: dict[str, int]


@dataclass(frozen=True)
class Component:
    """A component under one licence. Without bytes of flash only its headers are used."""

    name: str
    license: str
    version: str
    flash: int


@dataclass(frozen=True)
class ImageSizes:
    flash: FlashSizes
    ram: RamSizes
    components: Optional[tuple[Component, ...]] = None  # None if the image was not told which there are


def image_sizes(document: Mapping[str, Any], where: str) -> ImageSizes:
    """Returns the sizes in `document`. UserError, which calls it by `where`, if it has none."""
    return structured(document, ImageSizes, where, _ADVICE)


def read_image(path: Union[str, Path]) -> tuple[str, ImageSizes]:
    """Returns the name of a firmware image and its sizes. UserError if the file has none."""
    document = read_json(path, _ADVICE)
    if not {"flash", "ram"} & document.keys():
        raise UserError(f"{path} has no sizes of a firmware: {_ADVICE}")
    return Path(path).name.removesuffix(".size.json"), image_sizes(document, str(path))
