"""What is asked of a compilation beside the model and its data: `CompileOptions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .partition.io_types import IoTypes
from .quantization.quantizer import CmsisNnQuantizer
from .selection.options import PayloadOptions
from .streaming.option import Stream


@dataclass(frozen=True)
class CompileOptions:
    """The options of `compile.compile_model`, which describes them, as the stages of the compiler read them."""

    io: IoTypes
    strict: bool
    name: str
    quantizer: CmsisNnQuantizer
    check: bool
    etrecord: bool
    payload: PayloadOptions
    stream: Optional[Stream]
