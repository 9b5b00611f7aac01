"""What is asked of a compilation beside the model and its data: as users give it, and as the stages read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional, Union

from .partition.io_types import IoTypes
from .quantization.quantizer import CmsisNnQuantizer
from .selection.options import PayloadKeywords, PayloadOptions
from .streaming.option import Stream


class Keywords(PayloadKeywords, total=False):
    """The options of all that compile a model, none of which is needed; `compile.compile_model` describes them."""

    state: Optional[Mapping[str, Union[str, int]]]
    stream: Union[Stream, int, None]
    io: Union[str, Mapping[str, str]]
    strict: bool
    name: str
    observer: Optional[str]
    linear_weights: Optional[str]
    quantizer: Optional[CmsisNnQuantizer]
    check: bool
    etrecord: bool


@dataclass(frozen=True)
class CompileOptions:
    """The options as the stages of the compiler read them."""

    io: IoTypes
    strict: bool
    name: str
    quantizer: CmsisNnQuantizer
    check: bool
    etrecord: bool
    payload: PayloadOptions
    stream: Optional[Stream]
