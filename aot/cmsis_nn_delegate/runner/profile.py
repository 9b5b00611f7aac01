"""How many instructions each call of a payload takes on a simulated core: `measure`.

Three runs of the real firmware give the figures. The usual image gives the inference's. The profile image sets markers
around every call; what the markers' own code takes is measured in that image with kernels that return at once. What is
left of the inference is the executor's, exactly. These are instructions, not cycles: those are modelled on request, as
the least and the most that the core's manual allows for a Cortex-M4 (sim/qemu/m4_timing.h), and from LLVM's model of
other cores (sim/pricing.py). What the flash of one chip adds to those of a Cortex-M4 is modelled too
(sim/qemu/m4_flash.h); it depends on what ran before, so that the waits of calls, in which those of the markers' code
are included, do not add up to the inference's.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from ..graph.ir import Graph
from ..graph.tensor_type import Element
from ..ops.registry import gives_lengths, index_range
from ..report.model_report import Report
from ..support.errors import UserError
from ..support.structured import read_json, structured
from . import simulate
from .measured import Measured

# The version of the JSON's structure.
SCHEMA = 1
_AGAIN = "write one with `cmsisnn profile NAME --json`"

_PROFILE = "_profile"


@dataclass(frozen=True)
class CallProfile:
    """One call. `functions` are the names of the edge nodes that it computes, `modules` the user's modules that they
    come from, each once; both are empty where they are unknown."""

    index: int
    kernel: str
    provider: str
    modules: tuple[str, ...]
    functions: tuple[str, ...]
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    multiplications: int  # 0 for operators without weights
    instructions: int
    cycles: Optional[simulate.Cycles] = None  # modelled: at least, at most; None if they are not modelled
    flash_waits: Optional[simulate.Cycles] = None  # what flash adds to them, likewise


@dataclass(frozen=True)
class Profile:
    """Executed instructions of init() and of one inference, which are those of its calls and of the executor."""

    name: str
    core: str
    isa: str
    kernels: str  # of the image, as in its banner
    simulator: str
    inputs: str  # what the inputs were
    init: int
    crc: int  # what init() takes besides if it checks the payload's CRC
    inference: int
    executor: int  # what the inference takes outside of its calls
    with_markers: bool  # whether `executor` has the instructions of the markers' code too
    calls: tuple[CallProfile, ...]
    cycles: Optional[simulate.Cycles] = None  # of the inference, as in `CallProfile`
    flash_waits: Optional[simulate.Cycles] = None
    simulated_core: str = ""  # as in `simulate.Run`; "" if it is not known
    cycle_model: str = ""  # likewise
    cycle_note: str = ""

    def __post_init__(self) -> None:
        for name in ("cycles", "flash_waits"):
            known = {getattr(call, name) is not None for call in self.calls}
            if known and known != {getattr(self, name) is not None}:
                raise ValueError(f"{name} are known of some calls only, or of the inference only")

    @property
    def multiplications(self) -> int:
        return sum(call.multiplications for call in self.calls)

    @property
    def place(self) -> str:
        """Returns the simulator, and the simulated core if it is not that of the image."""
        return simulate.place_of(self.simulator, self.simulated_core, self.core)

    def to_json(self, measured: Optional[Measured] = None) -> str:
        """Returns the fields as a document of the version `SCHEMA`, with a final newline.

        measured: cycles of a board, which are its field `measured` then.
        """
        document = {"schema": SCHEMA, "unit": "instructions", **dataclasses.asdict(self)}
        if measured is not None:
            document["measured"] = dataclasses.asdict(measured)
        return json.dumps(document, indent=2) + "\n"


def load(path: Union[str, Path]) -> tuple[Mapping[str, Any], Profile, Optional[Measured]]:
    """Returns the document that `cmsisnn profile --json` printed, and what it says; the cycles of a board only if it
    has some. UserError names the first field that does not fit."""
    document = read_json(path, _AGAIN)
    if not {"inference", "executor", "init"} & document.keys():
        raise UserError(f"{path} is no profile: {_AGAIN}")
    if document.get("schema") != SCHEMA:
        raise UserError(f"{path}: its schema is {document.get('schema')!r}, and this release reads {SCHEMA}; {_AGAIN}")
    profile = structured(document, Profile, str(path), _AGAIN, complete=True)
    if "measured" not in document:
        return document, profile, None
    measured = structured(document["measured"], Measured, f"{path}: measured", _AGAIN, complete=True)
    if len(measured.calls) != len(profile.calls):
        raise UserError(f"{path}: measured: has {len(measured.calls)} calls, not {len(profile.calls)}; {_AGAIN}")
    return document, profile, measured


def read(path: Union[str, Path], report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the document that `cmsisnn profile --json` printed for the payload of `report`, the document of
    `Report.to_json`. Its fields have been checked. UserError if the file has none, or was measured with other calls."""
    document, _, _ = load(path)
    measured, calls = ([_identity(call) for call in d["calls"]] for d in (document, report))
    if measured != calls:
        different = next((i for i, pair in enumerate(zip(measured, calls)) if pair[0] != pair[1]), None)
        what = f"{len(measured)} calls, not {len(calls)}" if different is None else f"another call calls[{different}]"
        raise UserError(f"{path} was measured with another payload than this report's: it has {what}; profile again")
    return document


def _identity(call: Mapping[str, Any]) -> tuple[Any, ...]:
    return call["index"], call["kernel"], call["provider"], call["inputs"], call["outputs"]


def measure(
    report: Report,
    payload: bytes,
    inputs: Sequence[np.ndarray],
    image: Union[str, Path],
    *,
    modules: Optional[Mapping[str, str]] = None,
    about_inputs: str = "",
    cycles: bool = False,
    timeout_s: float = 600.0,
    progress: Optional[Callable[[str], None]] = None,
) -> Profile:
    """Runs `payload`, which `report` is about, with one set of `inputs` (logical shape and order).

    image: a profile image of the standalone executor, such as cortex_m4_profile.elf. If the same image without markers
        (cortex_m4.elf) lies beside it, that one gives the inference's total, otherwise the total includes the markers'
        code.
    cycles: whether to model them, for images of `simulate.MODELLED_CORES`.
    modules: the user's module by the name of an edge node, in execution order.

    UserError if the images give no exact counts, are no profile images, or as for `simulate.run`.
    """

    def run(elf: Path, *, null_kernels: bool = False, verify_crc: bool = False) -> simulate.Run:
        return simulate.run(
            payload,
            [inputs],
            elf,
            null_kernels=null_kernels,
            verify_crc=verify_crc,
            cycles=cycles,
            timeout_s=timeout_s,
            progress=progress,
        )

    image = Path(image)
    plain = _without_markers(image)
    marked = run(image)
    traced = _counts(marked)
    if len(traced.calls) != len(report.calls):
        raise UserError(
            f"{image} counted {len(traced.calls)} calls, the payload has {len(report.calls)}: use a profile image, "
            f"such as //runtime:{report.target.replace('-', '_')}{_PROFILE}"
        )
    markers = _counts(run(image, null_kernels=True))
    instructions = [count - own for count, own in zip(traced.calls, markers.calls, strict=True)]
    modelled: list[Optional[simulate.Cycles]] = [None] * len(instructions)
    waits: list[Optional[simulate.Cycles]] = [None] * len(instructions)
    if cycles:
        waits = list(traced.call_flash_waits) or waits
        pairs = zip(traced.call_cycles, markers.call_cycles, strict=True)
        modelled = [(low - own_low, high - own_high) for (low, high), (own_low, own_high) in pairs]
    last = run(plain or image, verify_crc=True)
    if (last.info.core, last.info.kernels) != (marked.info.core, marked.info.kernels):
        raise UserError(
            f"{image} has the kernels {marked.info.kernels} for {marked.info.core}, and {plain}, whose inference they "
            f"are a part of, has {last.info.kernels} for {last.info.core}: build both again, with the same options"
        )
    whole = _counts(last)
    return Profile(
        name=report.name,
        core=last.info.core,
        isa=last.info.isa,
        kernels=last.info.kernels,
        simulator=last.simulator,
        simulated_core=last.simulated_core,
        inputs=about_inputs,
        init=traced.init,
        crc=whole.init - traced.init,
        inference=whole.inference,
        executor=whole.inference - sum(instructions),
        with_markers=plain is None,
        calls=tuple(
            CallProfile(
                index=call.index,
                kernel=call.kernel,
                provider=call.provider,
                modules=tuple({module: None for node, module in (modules or {}).items() if node in call.sources}),
                functions=tuple(source for source in call.sources if "quantize_per_" not in source),
                inputs=call.inputs,
                outputs=call.outputs,
                multiplications=call.macs,
                instructions=count,
                cycles=between,
                flash_waits=waiting,
            )
            for call, count, between, waiting in zip(report.calls, instructions, modelled, waits, strict=True)
        ),
        cycles=whole.cycles,
        flash_waits=whole.flash_waits,
        cycle_model=last.cycle_model,
        cycle_note=last.cycle_note,
    )


@dataclass(frozen=True)
class _Counts:
    """Instructions of a run with one set of inputs; those of calls include the markers' code."""

    init: int
    inference: int
    calls: list[int]
    cycles: Optional[simulate.Cycles]
    call_cycles: list[simulate.Cycles]
    flash_waits: Optional[simulate.Cycles]
    call_flash_waits: list[simulate.Cycles]


def _counts(run: simulate.Run) -> _Counts:
    if run.init_instructions is None or run.instructions is None or run.calls is None:
        raise UserError(
            f"{run.simulator} does not count instructions exactly here, so there is no profile: use the simulators of "
            "the project's checkout, `bazel build //sim:qemu`"
        )
    return _Counts(
        init=run.init_instructions,
        inference=run.instructions[0],
        calls=run.calls[0],
        cycles=run.cycles[0] if run.cycles else None,
        call_cycles=run.call_cycles[0] if run.call_cycles else [],
        flash_waits=run.flash_waits[0] if run.flash_waits else None,
        call_flash_waits=run.call_flash_waits[0] if run.call_flash_waits else [],
    )


def random_inputs(graph: Graph, seed: int = 0) -> list[np.ndarray]:
    """Returns one set of inputs of `graph`: any quantized numbers, normally distributed floats, valid indices, and
    sequences of all steps, which take the most instructions.

    Kernels of layers take the same instructions for all inputs; a few others, such as softmax, do not.
    """
    generator = np.random.default_rng(seed)
    arrays = []
    for value in graph.inputs:
        dtype = value.element.numpy
        if value.element is Element.FLOAT32:
            arrays.append(generator.normal(0, 1, value.shape).astype(dtype))
        else:
            element = value.element
            any_number = (element.low, element.high) if element.is_activation else (0, 0)
            low, high = index_range(graph, value) or any_number
            if gives_lengths(graph, value):
                low = high
            arrays.append(generator.integers(low, high, value.shape, endpoint=True).astype(dtype))
    return arrays


def _without_markers(image: Path) -> Optional[Path]:
    """Returns the image beside a profile image that has no markers around calls, None if there is none."""
    if not image.stem.endswith(_PROFILE):
        return None
    plain = image.with_name(image.stem[: -len(_PROFILE)] + image.suffix)
    return plain if plain.is_file() else None
