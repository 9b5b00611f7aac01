"""From a module to everything that is deployed: `compile_model`.

    compiled = compile_model(module, (x,), "cortex-m55", calibration=[(x0,), (x1,)], io="int8")
    compiled.write("out")
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from executorch.exir import EdgeProgramManager
from executorch.exir.lowered_backend_module import LoweredBackendModule
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from .backend import lower_to_graph
from .errors import UserError
from .explain import NodeReport
from .finite import require_finite
from .graph import serialize
from .graph.ir import Graph
from .lower import NotDelegatedError, lower
from .partitioner import CmsisNnPartitioner
from .passes.separate_outputs import separate_outputs
from .payload import c_header
from .payload.encode import Encoded, encode
from .planner.memory import IoPlacement
from .prepare import separate_batch_norms
from .private_copy import private_copy, require_finite_weights, require_separate_inputs
from .quantizer import CmsisNnQuantizer
from .report import text
from .report.model_report import Report, build_report
from .target import Target, get_target

Progress = Callable[[str], None]
Inputs = Sequence[Union[torch.Tensor, np.ndarray]]
Model = Union[torch.nn.Module, ExportedProgram]

IO = ("float", "int8")
# What `Compiled.write` makes besides NAME.pte, if the whole model is one delegate call.
_STANDALONE_SUFFIXES = (".payload.bin", ".h", ".c", ".graph.npz", ".report.txt", ".report.json")


@dataclass(frozen=True)
class Compiled:
    """A compiled model.

    `pte` always runs under ExecuTorch with the delegate's library. `encoded`, the payload with its
    plan, exists only if the whole model became one delegate call; `obstacle` says what
    prevented that. `reports` has the decision about every node.
    """

    name: str
    target: Target
    io: str
    pte: bytes
    program: ExportedProgram  # quantized, float inputs and outputs, before lowering
    reports: tuple[NodeReport, ...]
    encoded: Optional[Encoded]
    obstacle: str

    @property
    def payload(self) -> Optional[bytes]:
        return self.encoded and self.encoded.payload

    @property
    def graph(self) -> Optional[Graph]:
        return self.encoded and self.encoded.graph

    @property
    def report(self) -> Optional[Report]:
        return self.encoded and build_report(self.name, self.encoded)

    @property
    def refused(self) -> list[NodeReport]:
        """Nodes that stay outside of the delegate, with reasons."""
        return [report for report in self.reports if not report.delegated]

    def files(self) -> dict[str, bytes]:
        """Name -> content of every file to write."""
        files = {f"{self.name}.pte": self.pte}
        if self.encoded is not None:
            about = {
                "name": self.name,
                "target": self.target.name,
                "io_placement": self.encoded.io_placement.value,
            }
            contents = (
                self.payload,
                c_header.generate_header(self.name, self.payload).encode(),
                c_header.generate_source(self.name, self.payload).encode(),
                serialize.dumps(self.graph, about),
                text.render(self.report).encode(),
                self.report.to_json().encode(),
            )
            for suffix, content in zip(_STANDALONE_SUFFIXES, contents):
                files[self.name + suffix] = content
        return files

    def write(self, folder: Union[str, Path]) -> list[Path]:
        """Writes `files` to `folder`, which is made if need be; removes what an earlier compilation
        of this name wrote and this one did not make."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = self.files()
        for suffix in _STANDALONE_SUFFIXES:
            if self.name + suffix not in files:
                (folder / (self.name + suffix)).unlink(missing_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return [folder / name for name in files]


def compile_model(
    module: Model,
    example_inputs: Inputs,
    target: Union[str, Target],
    calibration: Optional[Iterable[Inputs]],
    *,
    io: str = "float",
    io_placement: str = "arena",
    strict: bool = False,
    name: str = "model",
    observer: str = "histogram",
    linear_weights: str = "per-channel",
    progress: Progress = lambda line: None,
) -> Compiled:
    """Quantizes, partitions and encodes `module` for `target`.

    calibration: representative inputs, one tuple per sample, float32, of the shapes of
        `example_inputs`; they set the scales of all activations.
    io: "float", or "int8" for int8 model inputs and outputs.
    io_placement: "arena" reserves room for the payload's inputs and outputs in its arena, "caller" does not.
    strict: raise NotDelegatedError if any node stays outside of the delegate.
    observer: how ranges are found; see `quantizer.OBSERVERS`.
    linear_weights: "per-channel", or "per-tensor" for faster and less exact layers; see `quantizer`.
    progress: called with a line before each step.

    `module` and all tensors given are left as they are.

    UserError for unknown names, unusable inputs (NaN and infinity included, in weights too), and modules
    that cannot be copied or that torch.export cannot handle.
    """
    try:
        target = target if isinstance(target, Target) else get_target(target)
        placement = IoPlacement.of(io_placement)
        quantizer = CmsisNnQuantizer(observer, linear_weights)
    except ValueError as error:
        raise UserError(str(error)) from error
    if io not in IO:
        raise UserError(f"unknown io {io!r}; choose one of {', '.join(IO)}")
    inputs = _checked_inputs(example_inputs, "example input")
    _check_module(module)

    progress("exporting the model")
    exported = _export(private_copy(module), inputs)
    require_finite_weights(exported)
    progress("calibrating")
    graph = separate_batch_norms(exported.module(check_guards=False))
    state = {name: buffer.clone() for name, buffer in graph.named_buffers()}
    prepared = prepare_pt2e(graph, quantizer)
    samples = _calibrate(prepared, inputs, calibration)
    _restore(prepared, state)
    progress(f"calibrated with {samples} samples; quantizing")
    program = _export(convert_pt2e(prepared), inputs)
    progress(f"partitioning and compiling for {target.name}")
    partitioner = CmsisNnPartitioner(target, io_placement)
    try:
        edge = lower(program, target, io, strict=strict, partitioner=partitioner)
    except NotDelegatedError as error:
        raise UserError(str(error), exit_code=1) from error
    except ValueError as error:
        raise UserError(f"cannot compile {name}: {error}", exit_code=1) from error
    encoded, obstacle = _standalone(edge, target, placement)
    progress("writing the ExecuTorch program")
    _keep_initial_state(edge.exported_program())
    return Compiled(
        name=name,
        target=target,
        io=io,
        pte=bytes(edge.to_executorch().buffer),
        program=program,
        reports=tuple(partitioner.reports),
        encoded=encoded,
        obstacle=obstacle,
    )


def input_names(module: Model, count: int) -> list[str]:
    """Names of the first `count` parameters of `forward`; input0, input1, ... where it has none."""
    if isinstance(module, ExportedProgram):
        names = list(module.graph_signature.user_inputs)
    else:
        parameters = inspect.signature(module.forward).parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in parameters if p.kind in kinds]
    return [names[i] if i < len(names) else f"input{i}" for i in range(count)]


def _checked_inputs(inputs: Inputs, what: str) -> tuple[torch.Tensor, ...]:
    """float32 tensors; what PyTorch would silently convert or trip over later is refused.

    They are copies: torch.export takes a tensor that is given twice for one input, and models may
    write into their inputs.
    """
    if isinstance(inputs, (torch.Tensor, np.ndarray)):
        raise UserError(f"{what}s are a tuple of tensors, one for each input; got a single one")
    tensors = []
    for index, item in enumerate(inputs):
        if isinstance(item, np.ndarray):
            item = torch.from_numpy(np.ascontiguousarray(item))
        if not isinstance(item, torch.Tensor):
            raise UserError(f"{what} {index} is {type(item).__name__}, not a tensor")
        if item.dtype != torch.float32:
            dtype = str(item.dtype).removeprefix("torch.")
            raise UserError(
                f"{what} {index} is {dtype}; models are compiled for float32 inputs: convert it with .float()"
            )
        tensors.append(item.detach().clone())
    if not tensors:
        raise UserError(f"there are no {what}s: the model needs at least one input")
    return tuple(tensors)


def _check_module(module: Model) -> None:
    if not isinstance(module, ExportedProgram):
        for name, tensor in module.state_dict().items():
            if tensor.dtype == torch.float64:
                raise UserError(f"{name} of the model is float64: convert the model with .float()")
        return
    require_separate_inputs(module)
    for name in module.graph_signature.user_inputs:
        node = next(node for node in module.graph.nodes if node.name == name)
        shape = getattr(node.meta.get("val"), "shape", ())
        if any(not isinstance(size, int) for size in shape):
            raise UserError(
                f"input {name} has the dynamic shape {list(map(str, shape))}: memory is planned ahead of "
                "time; export the model with fixed shapes",
                exit_code=1,
            )


def _export(module: Model, inputs: tuple[torch.Tensor, ...]) -> ExportedProgram:
    if isinstance(module, ExportedProgram):
        return module
    # Converted graph modules have no eval(); they are in eval mode already.
    if not isinstance(module, torch.fx.GraphModule):
        module = module.eval()
    try:
        return torch.export.export(module, inputs)
    except Exception as error:
        raise UserError(
            f"torch.export cannot export the model: {_first_line(error)}", exit_code=1
        ) from error


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def _calibrate(
    prepared: torch.nn.Module, inputs: tuple[torch.Tensor, ...], calibration: Optional[Iterable[Inputs]]
) -> int:
    """Shows all samples to the observers; their number."""
    count = 0
    with torch.no_grad():
        for sample in calibration or ():
            tensors = _checked_inputs(sample, f"sample {count} of the calibration data, input")
            shapes = [list(t.shape) for t in tensors], [list(t.shape) for t in inputs]
            if shapes[0] != shapes[1]:
                raise UserError(
                    f"sample {count} of the calibration data has shapes {shapes[0]}, the model's inputs {shapes[1]}"
                )
            for index, tensor in enumerate(tensors):
                require_finite(tensor.cpu().numpy(), f"sample {count} of the calibration data: input {index}")
            prepared(*tensors)
            count += 1
    if not count:
        raise UserError(
            "calibration data is missing: quantization needs representative inputs; one to a few hundred do"
        )
    return count


def _restore(model: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """What the model remembers from one inference to the next begins as it was given."""
    for name, buffer in model.named_buffers():
        if name in state:
            buffer.copy_(state[name])


def _keep_initial_state(program: ExportedProgram) -> None:
    """Has ExecuTorch store the values that buffers begin with; of those that inferences change it stores
    the shape alone by default."""
    signature = program.graph_signature
    for node in program.graph.nodes:
        if signature.inputs_to_buffers.get(node.name) in signature.buffers_to_mutate.values():
            node.meta["et_init_buffer"] = True


def _standalone(
    edge: EdgeProgramManager, target: Target, io_placement: IoPlacement
) -> tuple[Optional[Encoded], str]:
    """(the payload that computes the whole model, "") or (None, why there is none)."""
    module = edge.exported_program().graph_module
    calls, outside = [], []
    for node in module.graph.nodes:
        if node.op == "get_attr" and isinstance(getattr(module, node.target), LoweredBackendModule):
            calls += node.users
        elif node.op == "call_function" and node not in calls and "getitem" not in str(node.target):
            outside.append(node.name)
    if outside:
        return None, f"{len(outside)} nodes stay outside of the delegate: {', '.join(outside[:5])}"
    if len(calls) != 1:
        return None, f"the model became {len(calls)} delegate calls"
    (call,) = calls
    order = _io_order(edge.exported_program(), call)
    if order is None:
        return None, "an input is not used, or an output is not computed by the delegate"
    graph = lower_to_graph(getattr(module, call.args[0].target).original_module)
    # A partition numbers its inputs and outputs in its own way; the payload has the model's.
    graph.inputs = [graph.inputs[i] for i in order[0]]
    graph.outputs = [graph.outputs[i] for i in order[1]]
    separate_outputs(graph)  # the partition returns once what the model returns twice
    return encode(graph, target, io_placement), ""


def _io_order(
    program: ExportedProgram, call: torch.fx.Node
) -> Optional[tuple[list[int], list[int]]]:
    """Of each model input and output: its number among those of the delegate; None if some has none."""
    arguments = [node.name for node in call.args[1:]]
    results: dict[str, Any] = {node.name: node.args[1] for node in call.users if "getitem" in node.name}
    try:
        return (
            [arguments.index(name) for name in program.graph_signature.user_inputs],
            [results[name] for name in program.graph_signature.user_outputs],
        )
    except (ValueError, KeyError):
        return None
