"""What a layer may be given: `FORMATS`. Each type of activations is one, with weights of 8 bits if it is of integers;
weights of 4 bits are another one. A further format is a line here."""

from __future__ import annotations

from dataclasses import dataclass

from ..format.element import Element
from ..quantization.configuration import FORMATS as ACTIVATION_FORMATS
from ..quantization.configuration import QuantizationConfig


@dataclass(frozen=True)
class LayerFormat:
    """`config` are the settings of a module that has the format, as `--quantizer` takes them."""

    name: str
    config: QuantizationConfig

    @property
    def is_small(self) -> bool:
        """Returns whether weights have 4 bits."""
        return self.config.weights == "int4"


def _config(name: str) -> QuantizationConfig:
    """Returns settings with the weights, too: those around a module may be of 4 bits."""
    return QuantizationConfig(format=name, weights=None if name == Element.FLOAT32.value else "per-channel")


# The first one is what layers have that take no other. It need not be the cheapest.
FORMATS = (
    *(LayerFormat(name, _config(name)) for name in ACTIVATION_FORMATS),
    LayerFormat("w4", QuantizationConfig(format=ACTIVATION_FORMATS[0], weights="int4")),
)
