"""What is asked of a compilation beside the model and its data: `CompileOptions`."""

from __future__ import annotations

from dataclasses import dataclass, field

from .payload.options import DEFAULT_OPTIONS, PayloadOptions
from .quantization.quantizer import CmsisNnQuantizer


@dataclass(frozen=True)
class CompileOptions:
    """The options of `compile.compile_model`, which describes them, as the stages of the compiler read them."""

    io: str = "float"
    strict: bool = False
    name: str = "model"
    quantizer: CmsisNnQuantizer = field(default_factory=CmsisNnQuantizer)
    check: bool = True
    etrecord: bool = False
    payload: PayloadOptions = DEFAULT_OPTIONS
