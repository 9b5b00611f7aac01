"""`cmsisnn run`: runs a compiled model, by the integer reference, on this machine, a simulated core or a board."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Optional

import numpy as np

from .. import reference
from ..files import npz, saved_state
from ..files.artifacts import Artifacts
from ..files.outputs import check_writable, write_files
from ..quantization.samples import Sample
from ..runner import device, layers, simulate
from ..runner.device_connection import DeviceRun
from ..runner.flash import flash
from ..support.errors import UserError
from ..support.heartbeat import numbered
from .inputs import host_program, samples_of
from .printing import say

Results = list[list[np.ndarray]]  # by sample and output
# Options for firmware, and where it may be.
_OPTIONS = {
    "executor": ("simulator",),
    "core": ("simulator", "gdb"),
    "image": ("simulator", "gdb", "serial"),
    "flash": ("serial",),
    "layers": ("simulator",),
    "board-name": ("gdb", "serial"),
}
_WRITTEN = {"gdb": "gdb://HOST:PORT", "serial": "serial://PORT"}  # as --on has them
Ran = tuple[Results, Optional[bytes]]  # and the persistent memory afterwards, if the model is one payload


def run(arguments: argparse.Namespace) -> int:
    place = arguments.on.partition("://")[0]
    for option, places in _OPTIONS.items():
        if getattr(arguments, option.replace("-", "_")) is not None and place not in places:
            there = " or ".join(_WRITTEN.get(one, one) for one in places)
            raise UserError(f"--{option} is for --on {there}, not --on {arguments.on}")
    if place == "serial" and (arguments.image is None) != (arguments.flash is None):
        raise UserError(
            "--image is what --flash writes to the board: give both, or neither if the board has its runner"
        )
    if arguments.layers and (not arguments.compare or arguments.executor == "executorch"):
        raise UserError("--layers needs --compare, and the standalone executor")
    written, saved = _npz_path("--output", arguments.output), _npz_path("--save-state", arguments.save_state)
    if written is not None and written == saved:
        raise UserError(f"--output and --save-state both name {written}")
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    state = _loaded_state(artifacts, arguments)
    samples = samples_of(artifacts, arguments)
    say(f"{len(samples)} samples from {arguments.inputs}")
    runners = {"reference": _run_reference, "host": _run_host, "simulator": _run_simulator}
    outputs, left = runners.get(place, _run_device)(artifacts, samples, arguments, state)
    differing = 0
    if arguments.compare:
        differing = _compare(outputs, _run_reference(artifacts, samples, arguments, state)[0])
    columns = [np.concatenate([_rows(array) for array in column]) for column in zip(*outputs)]
    for index, column in enumerate(columns):
        print(f"output{index}: {column.dtype}{list(column.shape)}")
        for row in column[:4].reshape(min(len(column), 4), -1):
            shown = " ".join(f"{x:g}" for x in row[:10])
            print(f"  {shown}{' ...' if row.size > 10 else ''}")
    if written is not None:
        content = npz.dumps({f"output{i}": column for i, column in enumerate(columns)})
        write_files(written.parent, {written.name: content})
        print(f"Written\n  {written}")
    if saved is not None and left is not None:
        write_files(saved.parent, {saved.name: saved_state.dumps(left, artifacts.payload())})
        print(f"State after {len(samples):,} samples\n  {saved}")
    return 1 if differing else 0


def _loaded_state(artifacts: Artifacts, arguments: argparse.Namespace) -> Optional[bytes]:
    """Returns the state to go on from, None to begin anew. UserError if the options for states are of no use."""
    options = {"--load-state": arguments.load_state, "--save-state": arguments.save_state}
    given = " and ".join(option for option, value in options.items() if value is not None)
    if not given:
        return None
    if arguments.layers or arguments.executor == "executorch":
        other = "--layers begins anew" if arguments.layers else "ExecuTorch's executor hands out no state"
        raise UserError(f"{other}: leave {given} out")
    payload = artifacts.payload()
    if not payload.persistent_bytes:
        raise UserError(f"{artifacts.name} keeps no state between inferences: leave {given} out")
    return None if arguments.load_state is None else saved_state.read(arguments.load_state, payload)


def _npz_path(option: str, given: Optional[str]) -> Optional[Path]:
    """Returns the file that an option names, after checking that it can be written."""
    if given is None:
        return None
    path = Path(given)
    if not path.name:
        raise UserError(f"{option} {given!r} names no file")
    if path.suffix != ".npz":
        path = path.with_name(path.name + ".npz")
    check_writable(path.parent, [path.name])
    return path


def _run_reference(
    artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace, state: Optional[bytes]
) -> Ran:
    graph, _ = artifacts.graph()
    say("running the integer reference")
    # One after the other, as on a device: a model may keep a state.
    states = reference.initial_states(graph) if state is None else reference.states_in(graph, state)
    outputs = [reference.run(graph, sample, states=states) for sample in numbered(samples, "sample")]
    return outputs, reference.memory_of(graph, states)


def _run_host(
    artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace, state: Optional[bytes]
) -> Ran:
    program = host_program(artifacts, arguments)
    channels_last = []
    if artifacts.has(".payload.bin"):
        tensors = artifacts.payload().inputs
        channels_last = [i for i, t in enumerate(tensors) if t.dim_order == (0, 2, 3, 1)]
    if state is not None:
        program.set_state(state)
    say("running under ExecuTorch's runtime")
    outputs = [program.run(sample, channels_last) for sample in numbered(samples, "sample")]
    return outputs, program.state()


def _run_simulator(
    artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace, state: Optional[bytes]
) -> Ran:
    payload = artifacts.payload()
    executor = arguments.executor or "standalone"
    program = artifacts.read(".pte") if executor == "executorch" else None
    image = arguments.image
    if image is None:
        core = arguments.core or artifacts.graph()[1].target
        image = simulate.default_image(core, executor, profile=bool(arguments.layers))
    say(f"simulating {image}")
    if arguments.layers:
        return _run_layers(artifacts, samples, image, arguments), None
    run = simulate.run(
        payload.data, samples, image, program=program, state=state, timeout_s=arguments.timeout, progress=say
    )
    print(
        f"core {run.info.core}, {run.info.isa}; kernels {run.info.kernels}; executor {run.info.executor}; {run.place}"
    )
    print(f"arena {run.arena_bytes:,} bytes, handle {run.runtime_bytes:,}, stack {run.stack_bytes:,}")
    if run.instructions:
        mean = sum(run.instructions) // len(run.instructions)
        print(f"instructions: {run.init_instructions:,} for init, {mean:,} for an inference")
    return run.outputs, run.state


def _run_device(
    artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace, state: Optional[bytes]
) -> Ran:
    image = arguments.image
    if image is None and arguments.on.startswith("gdb:"):
        image = simulate.default_image(arguments.core or artifacts.graph()[1].target)
    if arguments.flash is not None:
        flash(image, arguments.flash, say)
        image = None  # is there now
    run = device.run(
        artifacts.payload().data,
        samples,
        arguments.on,
        image,
        board=arguments.board_name or "",
        state=state,
        timeout_s=arguments.timeout,
        progress=say,
    )
    print(
        f"core {run.info.core}, {run.info.isa}; kernels {run.info.kernels}; executor {run.info.executor}; {run.place}"
    )
    print(f"arena {run.arena_bytes:,} bytes, handle {run.runtime_bytes:,}, stack {run.stack_bytes:,}")
    print(f"cycles: {about_cycles(run)}")
    return run.outputs, run.state


def about_cycles(run: DeviceRun) -> str:
    """Returns the cycles of a run with what counted them, or why there are none."""
    if run.cycles is None:
        return f"not available: {run.no_cycles}"
    first, *later = run.cycles
    what = f"{first:,} for the first inference"
    if later:
        what += f", {min(later):,} to {max(later):,} for the {len(later):,} others"
    return f"{what}, counted by {run.place}" + ("" if run.board else "; name the board with --board-name")


def _run_layers(artifacts: Artifacts, samples: list[Sample], image: str, arguments: argparse.Namespace) -> Results:
    """Says which call is the first to differ from the reference."""
    graph, _ = artifacts.graph()
    found = layers.compare(artifacts.payload().data, graph, samples, image, timeout_s=arguments.timeout, progress=say)
    print(found)
    return found.outputs


def _compare(outputs: Results, expected: Results) -> int:
    """Prints and returns the number of bytes that differ from the reference."""
    total = differing = 0
    for got, want in zip(outputs, expected):
        for a, b in zip(got, want):
            bytes_a, bytes_b = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (a, b))
            total += bytes_b.size
            differing += int((bytes_a != bytes_b).sum()) if a.shape == b.shape else bytes_b.size
    print(f"{differing:,} of {total:,} bytes differ from the integer reference")
    return differing


def _rows(array: np.ndarray) -> np.ndarray:
    return array.reshape(1) if array.ndim == 0 else array
