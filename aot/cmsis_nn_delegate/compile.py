"""From a module to everything that is deployed: `compile_model`.

For example:

    compiled = compile_model(module, (x,), "cortex-m55", calibration=[(x0,), (x1,)], io="int8")
    compiled.write("out")
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union

import torch
from executorch.exir import EdgeProgramManager
from executorch.exir.lowered_backend_module import LoweredBackendModule
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from . import calibration as calibration_data
from .artifacts import check_name
from .backend import lower_to_graph
from .comparison import Samples, compare, differing_part
from .compiled import Compiled
from .convert import convert_calibrated
from .errors import UserError, stage
from .explain import unloadable
from .int8_io import check_int8_io
from .interface import Arguments, Inputs, Model, check_model, make_flat
from .lower import NotDelegatedError, for_target, lower
from .partitioner import CmsisNnPartitioner
from .passes.separate_outputs import separate_outputs
from .payload.encode import Encoded, encode
from .planner.memory import IoPlacement
from .prepare import quantizable_module
from .private_copy import private_copy, require_finite_weights
from .quantizer import CmsisNnQuantizer
from .ranges import doubtful_ranges, observe
from .target import Target, get_target

Progress = Callable[[str], None]

IO = ("float", "int8")


def compile_model(
    module: Model,
    example_inputs: Arguments,
    target: Union[str, Target],
    calibration: Any,
    *,
    io: str = "float",
    io_placement: str = "arena",
    strict: bool = False,
    name: str = "model",
    observer: str = "histogram",
    linear_weights: str = "per-channel",
    check: bool = True,
    progress: Progress = lambda line: None,
) -> Compiled:
    """Quantizes, partitions and encodes `module` for `target`.

    example_inputs: what `forward` takes, float32: a tuple or list by position, a dict by name; both may hold
        further tuples, lists and dicts. `interface` has the order in which the compiled program takes them.
    calibration: representative inputs, which set the scales of all activations; an iterable of samples of
        the structure of `example_inputs`. `calibration` says what else it may be.
    io: "float", or "int8" for int8 model inputs and outputs.
    io_placement: "arena" reserves room for the payload's inputs and outputs in its arena, "caller" does not.
    strict: raise NotDelegatedError if any node stays outside of the delegate.
    observer: how ranges are found; see `quantizer.OBSERVERS`.
    linear_weights: "per-channel", or "per-tensor" for faster and less exact layers; see `quantizer`.
    check: compare the quantized model with the float one on up to 8 of the samples; see `comparison`. It takes
        about as long as 10 inferences in PyTorch for each of these.
    progress: called with a line before each step.

    `module` and all tensors given are left as they are.

    UserError for unknown names, unusable inputs (NaN and infinity included, in weights too), and modules
    that cannot be copied or that torch.export cannot handle.
    """
    (compiled,) = compile_for_targets(
        module,
        example_inputs,
        [target],
        calibration,
        io=io,
        io_placement=io_placement,
        strict=strict,
        name=name,
        observer=observer,
        linear_weights=linear_weights,
        check=check,
        progress=progress,
    )
    return compiled


def compile_for_targets(
    module: Model,
    example_inputs: Arguments,
    targets: Sequence[Union[str, Target]],
    calibration: Any,
    *,
    io: str = "float",
    io_placement: str = "arena",
    strict: bool = False,
    name: str = "model",
    observer: str = "histogram",
    linear_weights: str = "per-channel",
    check: bool = True,
    progress: Progress = lambda line: None,
) -> list[Compiled]:
    """What `compile_model`, which describes the arguments, gives for each of `targets`.

    The model is quantized and partitioned once, which takes nearly all of the time.
    """
    check_name(name)
    if not targets:
        raise UserError("no target is given")
    try:
        targets = [t if isinstance(t, Target) else get_target(t) for t in targets]
        placement = IoPlacement.of(io_placement)
        quantizer = CmsisNnQuantizer(observer, linear_weights)
    except ValueError as error:
        raise UserError(str(error)) from error
    if io not in IO:
        raise UserError(f"unknown io {io!r}; choose one of {', '.join(IO)}")
    check_model(module)
    inputs = Inputs.of(module, example_inputs)
    calibration_data.check(calibration)

    progress("exporting the model")
    exported = _export(private_copy(module), inputs.args, inputs.kwargs)
    require_finite_weights(exported)
    graph = quantizable_module(exported)
    for note in make_flat(graph):
        progress(note)
    progress("calibrating")
    state = {name: buffer.clone() for name, buffer in graph.named_buffers()}
    with stage("torchao's prepare_pt2e cannot prepare the model for calibration"):
        prepared = prepare_pt2e(graph, quantizer)
    if io == "int8":
        check_int8_io(prepared)
    samples = _calibrate(prepared, inputs, calibration)
    _restore(prepared, state)
    warnings = list(doubtful_ranges(prepared))
    for warning in warnings:
        progress(f"warning: {warning}")
    progress(f"calibrated with {samples.count} samples; quantizing")
    observed = copy.deepcopy(prepared) if check else None
    with stage("torchao's convert_pt2e cannot quantize the model"):
        converted = convert_calibrated(prepared)
    program = _export(converted, inputs.tensors)
    if check:
        original = exported.module(check_guards=False)
        make_flat(original)
        part = compare(original, observed, converted, program, samples)
        progress(
            f"compared with the float model on {len(samples.kept)} samples: outputs differ by at most "
            f"{differing_part(part)} of their range"
        )
    progress(f"partitioning and compiling for {', '.join(target.name for target in targets)}")
    partitioner = CmsisNnPartitioner(targets[0], io_placement, prepared=True)
    try:
        edge = lower(program, targets[0], io, strict=strict, partitioner=partitioner)
    except UserError:
        raise
    except NotDelegatedError as error:
        raise UserError(str(error), exit_code=1) from error
    except ValueError as error:
        raise UserError(f"cannot compile {name}: {error}", exit_code=1) from error
    _keep_initial_state(edge.exported_program())
    # Before the first is written: that changes the program.
    edges = [edge, *(for_target(edge, target, io_placement) for target in targets[1:])]
    progress("writing the ExecuTorch program")
    all_compiled = []
    for target, edge in zip(targets, edges):
        encoded, obstacle = _standalone(edge, target, placement)
        with stage("ExecuTorch cannot write the program"):
            written = edge.to_executorch()
            pte = bytes(written.buffer)
        cannot_load = unloadable(written.executorch_program, partitioner.reports)
        compiled = Compiled(
            name=name,
            target=target,
            io=io,
            pte=pte,
            program=program,
            reports=tuple(partitioner.reports),
            encoded=encoded,
            obstacle=obstacle,
            warnings=(*warnings, *cannot_load),
        )
        all_compiled.append(compiled)
    for warning in cannot_load:  # the same for each
        progress(f"warning: {warning}")
    return all_compiled


def _export(module: Model, args: tuple, kwargs: Optional[Mapping[str, Any]] = None) -> ExportedProgram:
    if isinstance(module, ExportedProgram):
        return module
    # Converted graph modules have no eval(); they are in eval mode already.
    if not isinstance(module, torch.fx.GraphModule):
        module = module.eval()
    with stage("torch.export cannot export the model"), torch.no_grad():
        # With gradients autograd forbids some writes in place.
        return torch.export.export(module, args, dict(kwargs or {}))


def _calibrate(prepared: torch.nn.Module, inputs: Inputs, data: Any) -> Samples:
    """Shows all samples to the observers."""
    samples = Samples()
    with torch.no_grad():
        for sample in calibration_data.read(data, inputs):
            with stage(f"the model cannot be run with sample {samples.count} of the calibration data"):
                observe(prepared, sample, f"sample {samples.count} of the calibration data")
            samples.add(sample)
    if not samples.count:
        raise UserError(
            "calibration data is missing: there is no sample in it; one to a few hundred representative inputs do"
        )
    return samples


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


def _standalone(edge: EdgeProgramManager, target: Target, io_placement: IoPlacement) -> tuple[Optional[Encoded], str]:
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
    if not calls:
        return None, "there is nothing in it for the delegate to compute"
    if len(calls) != 1:
        return None, f"the model became {len(calls)} delegate calls"
    (call,) = calls
    order = _io_order(edge.exported_program(), call)
    if isinstance(order, str):
        return None, order
    graph = lower_to_graph(getattr(module, call.args[0].target).original_module)
    # A partition numbers its inputs and outputs in its own way; the payload has the model's.
    graph.inputs = [graph.inputs[i] for i in order[0]]
    graph.outputs = [graph.outputs[i] for i in order[1]]
    separate_outputs(graph)  # the partition returns once what the model returns twice
    return encode(graph, target, io_placement), ""


def _io_order(program: ExportedProgram, call: torch.fx.Node) -> Union[tuple[list[int], list[int]], str]:
    """Of each model input and output: its number among those of the delegate; or which one has none."""
    arguments = [node.name for node in call.args[1:]]
    results: dict[str, Any] = {node.name: node.args[1] for node in call.users if "getitem" in node.name}
    signature = program.graph_signature
    for name in signature.user_inputs:
        if name not in arguments:
            return f"input {name} is not used"
    for index, name in enumerate(signature.user_outputs):
        if name not in results:
            kind = "an input" if name in signature.user_inputs else "a constant"
            return f"output {index} is {kind}, {name}, and not computed by the delegate"
    return (
        [arguments.index(name) for name in signature.user_inputs],
        [results[name] for name in signature.user_outputs],
    )
