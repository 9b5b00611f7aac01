"""What a layer may be given: `FORMATS`. A new format is a line here."""

from __future__ import annotations

from dataclasses import dataclass

from ..quantization.configuration import QuantizationConfig


@dataclass(frozen=True)
class LayerFormat:
    """`config` are the settings of a module that has the format, as `--quantizer` takes them."""

    name: str
    config: QuantizationConfig


# The first one is what layers have that take no other. It need not be the cheapest.
FORMATS = (
    LayerFormat("int8", QuantizationConfig(format="int8")),
    LayerFormat("int16", QuantizationConfig(format="int16")),
)
