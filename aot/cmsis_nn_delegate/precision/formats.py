"""What a layer may be given: `FORMATS`. Each type of activations is one; another format is a line here."""

from __future__ import annotations

from dataclasses import dataclass

from ..quantization.configuration import FORMATS as ACTIVATION_FORMATS
from ..quantization.configuration import QuantizationConfig


@dataclass(frozen=True)
class LayerFormat:
    """`config` are the settings of a module that has the format, as `--quantizer` takes them."""

    name: str
    config: QuantizationConfig


# The first one is what layers have that take no other. It need not be the cheapest.
FORMATS = (*(LayerFormat(name, QuantizationConfig(format=name)) for name in ACTIVATION_FORMATS),)
