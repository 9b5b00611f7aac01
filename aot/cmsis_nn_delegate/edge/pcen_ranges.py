"""Between which numbers the parameters of `pcen` (`sound_ops`) have to be for the delegate: `PCEN_RANGES`."""

from __future__ import annotations

from collections.abc import Mapping

# In the order of the operator. With a `smooth` below, most steps of a mean would be rounded away in 16 bits.
PCEN_RANGES: Mapping[str, tuple[float, float]] = {
    "smooth": (2.0**-10, 1 - 2.0**-10),
    "alpha": (0.0, 1.0),
    "delta": (2.0**-30, 2.0**30),
    "root": (2.0**-6, 1.0),
}
