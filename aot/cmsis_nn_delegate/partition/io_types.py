"""The types of a model's inputs and outputs, as people ask for them: `IoTypes`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from ..format.element import KERNEL_ELEMENTS
from ..support.errors import UserError

FLOAT = "float"
# The type that a tensor is quantized to, whichever that is; float where it is not.
QUANTIZED = "quantized"
# What an input or output can be asked to have.
TYPES = (FLOAT, *(element.value for element in KERNEL_ELEMENTS), QUANTIZED)
# The names of all inputs and of all outputs.
_INPUTS, _OUTPUTS = "inputs", "outputs"


@dataclass(frozen=True)
class IoTypes:
    """What inputs and outputs are asked to be, each one of `TYPES`, by the names of inputs, "output0" and so on, or
    "inputs" and "outputs" for all that is not named. The rest is float."""

    named: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(given: Union[str, Mapping[str, str], IoTypes]) -> IoTypes:
        """Returns what `given` means: a type for all, types by name, or such names as text: "x=int16,outputs=int8".

        UserError for an unknown type, and for text that is not of this form.
        """
        if isinstance(given, IoTypes):
            return given
        if isinstance(given, str):
            given = _parsed(given) if "=" in given else {_INPUTS: given, _OUTPUTS: given}
        for found in given.values():
            if found not in TYPES:
                raise UserError(f"unknown io {found!r}; choose one of {', '.join(TYPES)}")
        return IoTypes(tuple(given.items()))

    @property
    def is_float(self) -> bool:
        """Returns whether nothing is quantized."""
        return all(found == FLOAT for _, found in self.named)

    def of_input(self, name: str) -> str:
        """Returns the type of an input."""
        return self._find(name, _INPUTS)

    def of_output(self, index: int) -> str:
        """Returns the type of an output."""
        return self._find(f"output{index}", _OUTPUTS)

    def require_names(self, inputs: Sequence[str], outputs: int) -> None:
        """UserError names what is no input among `inputs`, and not one of so many outputs."""
        known = {*inputs, *(f"output{index}" for index in range(outputs))}
        for name, _ in self.named:
            if name not in known | {_INPUTS, _OUTPUTS}:
                raise UserError(
                    f"io names {name!r}, and the model has {_listed(known)}; {_INPUTS} and {_OUTPUTS} are all of them"
                )

    def __str__(self) -> str:
        found = dict(self.named)
        if set(found) == {_INPUTS, _OUTPUTS} and found[_INPUTS] == found[_OUTPUTS]:
            return found[_INPUTS]
        return ",".join(f"{name}={found}" for name, found in self.named) or FLOAT

    def _find(self, name: str, group: str) -> str:
        found = dict(self.named)
        return found.get(name, found.get(group, FLOAT))


def _parsed(text: str) -> Mapping[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    found = {name.strip(): kind.strip() for name, _, kind in pairs}
    if len(found) < len(pairs) or not all(name and kind for name, kind in found.items()):
        raise UserError(f"io {text!r} is not NAME=TYPE,... with each name once, such as x=int16,outputs=int8")
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
