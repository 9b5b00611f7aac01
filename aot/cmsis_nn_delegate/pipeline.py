"""The compiler as a list of stages: `STAGES`.

Each stage runs once on a `Compilation`, reads it and adds to it. Rewrites of a program or graph are in the code that
the stages call, and nowhere else. Several targets share all stages up to `legalize`, because only kernels and payloads
depend on the target.
"""

from __future__ import annotations

import copy
import tempfile
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from .compile_options import CompileOptions
from .compiled import Compiled
from .edge.layers_by_shape import layers_by_shape
from .graph.failure import shown_in_errors
from .graph.ir import Graph
from .partition.backend import compile_specs
from .partition.delegates import delegates, obstacle, put_payload, take_model_order
from .partition.exir import EdgeProgramManager, ExecutorchProgramManager
from .partition.explain import unloadable
from .partition.importer import import_program
from .partition.lower import NotDelegatedError, partition
from .partition.partitioner import CmsisNnPartitioner
from .partition.quantized_io import check_quantized_io, with_io
from .partition.states import keep_state
from .passes.run_passes import run_passes
from .payload.encode import Encoded, encode_planned
from .pipeline_text import choices_text, graphs_text, payloads_text, plans_text, program_text
from .planner.memory import IoPlacement
from .planner.memory_fit import DoesNotFit
from .quantization import calibration as calibration_data
from .quantization.bias_correction import correct_biases
from .quantization.comparison import LOWEST_SQNR, Comparison, Samples, compare, differing_part
from .quantization.convert import convert_calibrated
from .quantization.forgotten import require_recorded
from .quantization.in_place import without_vmap, written_buffers, written_state
from .quantization.input_truths import require_truths, truth_inputs
from .quantization.interface import Inputs, Model, make_flat
from .quantization.named_states import NamedStates
from .quantization.narrowed import narrowed
from .quantization.prepare import quantizable_module
from .quantization.private_copy import private_copy, require_finite_weights, runnable_copy
from .quantization.ranges import Calibration, Ranges
from .quantization.sound import converted_inputs, require_converted
from .quantization.sum_scales import coarsen_sums
from .quantization.weight_scales import make_room_for_sums
from .report.explanation import Placement, modules_of
from .report.names import Names
from .report.stream_report import StreamOutput, StreamReport
from .selection.alternatives import choose_graph
from .selection.bands import compute_in_bands
from .selection.choose_kernels import Chosen, Legal, legalize
from .selection.options import SLOWDOWN_FOR_RAM
from .selection.planned import Planned, plan
from .selection.preference import Preference
from .selection.soft_float import soft_float_warning
from .streaming.equality import count_equal_windows
from .streaming.stream import Streamed, streamed
from .support.errors import UserError, library_call
from .targets.memory import copies_weights
from .targets.target import Target

Progress = Callable[[str], None]

# All of them are in memory at once.
_CORRECTION_SAMPLES = 32
_LARGE_SLOWDOWN = 50.0  # percent, that is tried for models that do not fit their memories


class LeftOutside(UserError):
    """With `strict`, some operators stay outside of the delegate."""


@dataclass
class Compilation:
    """The request and, below it, the results of the stages so far."""

    model: Model
    states: Optional[NamedStates]  # inputs of `model` that it is to keep itself
    inputs: Inputs  # the others
    targets: tuple[Target, ...]
    calibration: Any
    options: CompileOptions
    is_quantized: bool  # by the caller: `model` is compiled as it is
    keep_modules: bool  # `exported` to `converted` until the end
    progress: Progress

    exported: ExportedProgram = field(init=False)  # as the user wrote it
    module: GraphModule = field(init=False)  # ATen, float, with flat inputs and outputs
    prepared: GraphModule = field(init=False)  # with observers
    samples: Samples = field(init=False)
    correction_samples: Samples = field(init=False)
    ranges: Ranges = field(init=False)  # of the samples
    converted: GraphModule = field(init=False)  # with quantize and dequantize
    comparison: Optional[Comparison] = field(init=False)  # with the float model, if asked for
    quantized: ExportedProgram = field(init=False)  # the same, with float inputs and outputs
    streamed: Optional[Streamed] = None  # what `quantized` is then made of
    whole: Optional[ExportedProgram] = None  # of a streamed model: the quantized one of the whole window
    program: ExportedProgram = field(init=False)  # with the inputs and outputs that were asked for
    partitioner: CmsisNnPartitioner = field(init=False)
    edge: EdgeProgramManager = field(init=False)
    obstacle: str = field(init=False)  # why one payload is not the whole model; "" if it is
    graphs: list[Graph] = field(init=False)  # of each partition
    legal: list[Legal] = field(init=False)  # the graphs in a form that the providers' kernels compute
    chosen: dict[Target, list[Chosen]] = field(init=False)  # of each partition
    planned: dict[Target, list[Planned]] = field(init=False)  # of each partition
    encoded: dict[Target, list[Encoded]] = field(init=False)
    compiled: list[Compiled] = field(init=False)  # for each target
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Stage:
    """A step of the compiler. `text` shows its result. In a stage that `refuses`, a ValueError says why a model that
    PyTorch accepted cannot be compiled; in other stages it would be a defect of ours."""

    name: str
    run: Callable[[Compilation], None]
    text: Callable[[Compilation], str]
    refuses: bool = False


def _capture(c: Compilation) -> None:
    c.progress("exporting the model")
    try:
        model = private_copy(c.model)
        if c.states is not None and isinstance(model, torch.nn.Module):
            c.states.hold(model)
        c.exported = without_vmap(export(model, c.inputs.args, c.inputs.kwargs))
    except UserError as error:
        integers = [name for name, x in zip(c.inputs.names, c.inputs.tensors) if not x.is_floating_point()]
        if not integers or _packs_sequences(error):
            raise
        raise UserError(
            f"{error}. Perhaps because of integers: unless {' and '.join(integers)} is an index, convert it with "
            ".float()"
        ) from error
    spare = _runnable(c)
    if spare is not None:
        require_recorded(spare, c.exported, c.inputs.args, c.inputs.kwargs)
    require_finite_weights(c.exported)


def _runnable(c: Compilation) -> Optional[torch.nn.Module]:
    """Returns a copy of the model that may be run without a trace; None if there is none: a function in the place of
    `forward` may belong to the original."""
    if isinstance(c.model, (ExportedProgram, GraphModule)) or any("forward" in vars(x) for x in c.model.modules()):
        return None
    copied = private_copy(c.model)
    if not isinstance(copied, torch.nn.Module):
        return None
    if c.states is not None:
        c.states.hold(copied)
    return copied


def _canonicalize(c: Compilation) -> None:
    if c.is_quantized:
        c.module = c.exported.module(check_guards=False)
    else:
        c.module = quantizable_module(c.exported, share_parameters=True)
    for note in make_flat(c.module):
        c.progress(note)


def _prepare(c: Compilation) -> None:
    if c.is_quantized:
        c.prepared = c.module
        return
    c.progress("inserting observers")
    with library_call("torchao's prepare_pt2e cannot prepare the model for calibration"):
        c.prepared = prepare_pt2e(c.module, c.options.quantizer)
    if not c.options.io.is_float:
        check_quantized_io(c.prepared, c.options.io)
    for note in narrowed(c.prepared.graph):
        c.warnings.append(note)
        c.progress(f"note: {note}")


def _calibrate(c: Compilation) -> None:
    if c.is_quantized:
        c.ranges = Ranges((), 0)
        return
    c.progress("calibrating")
    written = written_buffers(c.prepared)
    state = {name: buffer.clone() for name, buffer in written.items()}
    truths, converted = truth_inputs(c.prepared), converted_inputs(c.prepared)
    c.samples = Samples(steps=bool(written))
    c.correction_samples = Samples(_CORRECTION_SAMPLES if c.options.quantizer.configuration.corrects_biases else 1)
    in_sequences = isinstance(c.calibration, calibration_data.Sequences)
    if in_sequences and not written:
        c.progress("the model keeps no state: the steps of all sequences are samples by themselves")
    longest = 0
    calibration = Calibration(c.prepared)
    with torch.no_grad():
        for number, sequence in enumerate(calibration_data.read(c.calibration, c.inputs)):
            restore(c.prepared, state)
            for step, sample in enumerate(sequence):
                what = f"sample {step} of {f'sequence {number} of ' if in_sequences else ''}the calibration data"
                with library_call(f"the model cannot be run with {what}"):
                    require_truths(truths, sample, what)
                    require_converted(converted, sample, what)
                    calibration.observe(sample, what)
                c.samples.add(sample, starts=step == 0)
                c.correction_samples.add(sample)
                longest = max(longest, step + 1)
        if written and longest == 1:
            # What reads a state has seen nothing but its initial value, often zeros, of which no range follows.
            calibration.observe(sample, what)
    if not c.samples.count:
        raise UserError(
            "calibration data is missing: it contains no samples; give one to a few hundred representative inputs"
        )
    restore(c.prepared, state)
    found = calibration.finish()
    coarsen_sums(c.prepared)
    for note in make_room_for_sums(c.prepared):
        c.warnings.append(note)
        c.progress(f"note: {note}")
    if isinstance(c.calibration, calibration_data.Examples):
        c.ranges = Ranges((), 0)
        return
    c.ranges = found
    for doubt in c.ranges.doubts:
        c.warnings.append(doubt.sentence)
        c.progress(f"warning: {doubt.sentence}")


def restore(model: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Sets the state that the model keeps between inferences back to its initial values."""
    for name, buffer in model.named_buffers():
        if name in state:
            buffer.copy_(state[name])


def _convert(c: Compilation) -> None:
    if c.is_quantized:
        c.converted = c.module
        c.quantized = export(c.converted, c.inputs.tensors)
        return
    what = (
        "the example inputs" if isinstance(c.calibration, calibration_data.Examples) else f"{c.samples.count} samples"
    )
    c.progress(f"calibrated with {what}; quantizing")
    prepared = c.prepared
    if c.options.check or c.options.quantizer.configuration.corrects_biases:
        c.prepared = runnable_copy(prepared)  # compared later with the converted module
    with library_call("torchao's convert_pt2e cannot quantize the model"):
        c.converted = convert_calibrated(prepared)
    c.quantized = export(c.converted, c.inputs.tensors)


def _compare(c: Compilation) -> None:
    c.comparison = None
    if c.is_quantized or not c.options.check:
        return
    original = c.exported.module(check_guards=False)
    make_flat(original)
    found = compare(original, c.prepared, c.converted, c.quantized, c.samples)
    if isinstance(c.calibration, calibration_data.Examples):
        return
    c.comparison = found
    c.progress(
        f"compared with the float model on {len(c.samples.kept)} samples: outputs differ by at most "
        f"{differing_part(c.comparison.part)} of their range"
    )


def _correct_biases(c: Compilation) -> None:
    configuration = c.options.quantizer.configuration
    if c.is_quantized or not configuration.corrects_biases:
        return
    if configuration.bias_correction is None and written_state(c.prepared.graph):
        return  # the preset asks for it where it is possible
    c.progress("correcting biases")
    correct_biases(c.prepared, c.converted, c.correction_samples.kept)
    c.quantized = export(c.converted, c.inputs.tensors)


def _stream(c: Compilation) -> None:
    if c.options.stream is None:
        return
    c.progress(f"rewriting the model for hops of {c.options.stream.hop} along dimension {c.options.stream.dim}")
    c.whole = c.quantized
    c.streamed = streamed(c.converted, c.inputs.tensors, c.options.stream)
    c.quantized = export(c.streamed.module, c.streamed.inputs)


def _calibration_doubt(c: Compilation) -> str:
    """Returns why the calibration data looks useless as a whole, or the model loses too much in int8 on this very data;
    "" if neither does."""
    found = c.ranges.useless()
    if found:
        return f"the calibration data looks useless: {found}"
    if c.comparison is None or c.comparison.sqnr >= LOWEST_SQNR:
        return ""
    cause = "See the warnings about ranges" if c.ranges.doubts else "That is the model, and not the data"
    return (
        "the model loses much by quantization: on the calibration data itself, noise is "
        f"{c.comparison.sqnr:.1f} dB below an output; {LOWEST_SQNR:g} dB and more are usual. {cause}: `cmsisnn "
        "accuracy` says which layers it comes from"
    )


def _release(c: Compilation) -> None:
    """Lets go of the modules with float weights, which no later stage reads."""
    if not c.keep_modules:
        del c.exported, c.module, c.prepared, c.converted


def _set_io(c: Compilation) -> None:
    c.program = with_io(c.quantized, c.options.io)


def _partition(c: Compilation) -> None:
    c.progress(f"partitioning and compiling for {', '.join(target.name for target in c.targets)}")
    payload = c.options.payload
    c.partitioner = CmsisNnPartitioner.with_options(c.targets[0], payload, prepared=not c.is_quantized, later=True)
    try:
        c.edge = partition(c.program, [c.quantized], c.partitioner, c.options.strict, c.options.etrecord)
    except NotDelegatedError as error:
        raise LeftOutside(str(error), exit_code=1) from error
    c.obstacle = obstacle(c.edge)
    if not c.obstacle:
        take_model_order(c.edge)
    keep_state(c.edge.exported_program())


def _import(c: Compilation) -> None:
    c.graphs = [import_program(delegate.program, checked=True) for delegate in delegates(c.edge)]


def _run_passes(c: Compilation) -> None:
    for graph in c.graphs:
        with shown_in_errors(graph):
            run_passes(graph, c.options.payload.skip_passes)


def _legalize(c: Compilation) -> None:
    c.legal = []
    for graph in c.graphs:
        with shown_in_errors(graph):
            c.legal.append(legalize(graph, c.options.payload))


def _choose_kernels(c: Compilation) -> None:
    c.chosen = {target: [] for target in c.targets}
    for target in c.targets:
        for legal in c.legal:
            with shown_in_errors(legal.graph):
                c.chosen[target].append(choose_graph(legal, target))


def _compute_in_bands(c: Compilation) -> None:
    for target in c.targets:
        for index, chosen in enumerate(c.chosen[target]):
            with shown_in_errors(chosen.graph):
                banded = compute_in_bands(chosen)
            names = Names(banded.graph, modules_of(c.partitioner.reports))
            for note in banded.graph.notes[len(chosen.graph.notes) :]:
                c.progress(names.in_text(note))
            c.chosen[target][index] = banded


def _plan(c: Compilation) -> None:
    if copies_weights(c.options.payload.memories) and len(c.graphs) > 1:
        raise UserError(
            f"the model is delegated in {len(c.graphs)} parts, and a memory can hold the weights of one part only: "
            "leave weights out of --memory (memories), or make the model one part (`cmsisnn explain` says what "
            "divides it)"
        )
    c.planned = {target: [] for target in c.targets}
    for target in c.targets:
        for chosen, legal in zip(c.chosen[target], c.legal):
            with shown_in_errors(chosen.graph):
                try:
                    c.planned[target].append(plan(chosen))
                except DoesNotFit as error:
                    c.progress("the model does not fit its memories: trying what helps")
                    names = Names(chosen.graph, modules_of(c.partitioner.reports))
                    raise error.named(names.in_text).helped_by(_what_fits(legal, target)) from None


def _what_fits(legal: Legal, target: Target) -> list[str]:
    """Returns other options with which a graph fits the memories, each alone."""
    tried = legal.options
    more = max(_LARGE_SLOWDOWN, tried.max_slowdown)
    options = {
        f"--max-slowdown {more:g} (max_slowdown={more:g})": replace(tried, max_slowdown=more),
        '--io-placement caller (io_placement="caller"), where the caller keeps the inputs and outputs': replace(
            tried, io_placement=IoPlacement.CALLER
        ),
    }
    if not tried.max_flash_growth:  # which asks for speed
        slowdown = max(SLOWDOWN_FOR_RAM, tried.max_slowdown)
        ram = replace(tried, preference=Preference.RAM, max_slowdown=slowdown)
        options = {'--prefer ram (prefer="ram")': ram, **options}
    found = []
    for option, other in options.items():
        if other == tried:
            continue
        try:
            plan(compute_in_bands(choose_graph(replace(legal, options=other), target)))
        except DoesNotFit:
            continue
        found.append(option)
    return found


def _encode(c: Compilation) -> None:
    c.encoded = {target: [] for target in c.targets}
    for target in c.targets:
        for planned in c.planned[target]:
            with shown_in_errors(planned.graph):
                c.encoded[target].append(encode_planned(planned))


def _etrecord(program: ExecutorchProgramManager) -> bytes:
    with library_call("ExecuTorch cannot write the ETRecord"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.etrecord")
        program.get_etrecord().save(str(path))
        return path.read_bytes()


def _package(c: Compilation) -> None:
    c.progress("writing the ExecuTorch program")
    # Make all copies before the first is written, because writing changes the program.
    edges = [c.edge, *(copy.deepcopy(c.edge) for _ in c.targets[1:])]
    c.compiled = []
    unloadable_parts: list[str] = []
    for target, edge in zip(c.targets, edges):
        specs = compile_specs(target, c.options.payload)
        for delegate, encoded in zip(delegates(edge), c.encoded[target]):
            put_payload(edge, delegate, encoded, specs)
        with library_call("ExecuTorch cannot write the program"):
            written = edge.to_executorch()
            pte = bytes(written.buffer)
        unloadable_parts = unloadable(written.executorch_program, c.partitioner.reports)
        soft = soft_float_warning([call.choice for part in c.encoded[target] for call in part.calls], target)
        of_target = [] if soft is None else [soft]
        for warning in of_target:
            c.progress(f"warning: {warning}")
        compiled = Compiled(
            name=c.options.name,
            target=target,
            io=str(c.options.io),
            pte=pte,
            program=c.quantized,
            reports=tuple(c.partitioner.reports),
            work=c.partitioner.work,
            quantizer="none, quantized before" if c.is_quantized else str(c.options.quantizer.configuration),
            placements=_placements(c.encoded[target]),
            parts=tuple(c.encoded[target]),
            obstacle=c.obstacle,
            warnings=(*c.warnings, *unloadable_parts, *of_target),
            calibration_doubt=_calibration_doubt(c),
            etrecord=_etrecord(written) if c.options.etrecord else None,
        )
        c.compiled.append(compiled)
    for warning in unloadable_parts:  # the same for each target
        c.progress(f"warning: {warning}")


def _compare_stream(c: Compilation) -> None:
    """Compiles the model of the whole window too, compares both, and reports what the stream saves."""
    stream, streamed_as = c.options.stream, c.streamed
    if stream is None or streamed_as is None or c.whole is None:
        return
    c.progress("comparing with the model of the whole window")
    whole = copy.copy(c)
    whole.quantized, whole.streamed, whole.whole = c.whole, None, None
    whole.options = replace(c.options, stream=None, etrecord=False, strict=False)
    whole.progress = lambda line: None
    for stage in STAGES:
        if stage.name in (
            "io",
            "partition",
            "import",
            "passes",
            "legalize",
            "choose-kernels",
            "bands",
            "plan",
            "encode",
        ):
            stage.run(whole)
    if c.obstacle or whole.obstacle:
        c.warnings.append(
            "the streaming model is not compared with that of the whole window, because one of them is not one "
            "delegate call"
        )
        return
    windows = _windows(c)
    for target, compiled in zip(c.targets, c.compiled):
        mine, other = compiled.parts[0], whole.encoded[target][0]
        if target is c.targets[0]:
            compared = count_equal_windows(other.graph, mine.graph, streamed_as, stream, windows, c.progress)
        outputs = tuple(
            None if kept is None else StreamOutput(kept[0], kept[1].start, kept[1].stop, value.shape[kept[0]])
            for kept, value in zip(streamed_as.outputs, other.graph.outputs)
        )
        prices = [call.choice.instructions(target) for call in other.calls]
        report = StreamReport(
            dim=stream.dim,
            hop=stream.hop,
            window=streamed_as.window,
            warm_up=streamed_as.warm_up,
            since_start=streamed_as.since_start,
            outputs=outputs,
            whole_instructions=None if None in prices else sum(price for price in prices if price is not None),
            whole_arena_bytes=other.plan.arena_bytes,
            whole_macs=sum(call.macs for call in other.calls),
            compared=compared,
        )
        c.compiled[c.compiled.index(compiled)] = replace(compiled, stream=report)
    c.progress(f"no byte of {compared} windows differs from the model of the whole window")


def _windows(c: Compilation) -> list[list[np.ndarray]]:
    """Returns two windows of data: of the samples, or drawn from the ranges of a model that was quantized before."""
    kept = [] if c.is_quantized else c.samples.kept
    if not kept:
        generator = torch.Generator().manual_seed(0)
        kept = [tuple(torch.randn(x.shape, generator=generator) for x in c.inputs.tensors) for _ in range(2)]
    first, second = kept[0], kept[len(kept) // 2]
    return [[x.detach().numpy() for x in sample] for sample in (first, second)]


def _placements(encoded: Sequence[Encoded]) -> dict[str, Placement]:
    """Returns the call that computes each delegated edge node; nodes that only rename values have none."""
    found: dict[str, Placement] = {}
    for index, part in enumerate(encoded):
        for call in part.calls:
            for source in call.node.sources:
                # Later calls of the same node finish it, or compute other pixels of a transposed convolution.
                found.setdefault(
                    source, Placement(index, call.index, call.choice.kernel.name, call.choice.provider.name)
                )
    return found


def export(module: Model, args: tuple[Any, ...], kwargs: Optional[Mapping[str, Any]] = None) -> ExportedProgram:
    """Returns the program of `module` in eval mode. A program is returned unchanged."""
    if isinstance(module, ExportedProgram):
        return module
    # Converted graph modules have no eval(), and are already in eval mode.
    if not isinstance(module, torch.fx.GraphModule):
        module = module.eval()
    try:
        with library_call("torch.export cannot export the model"), torch.no_grad(), layers_by_shape():
            # With gradients autograd forbids some writes in place.
            return torch.export.export(module, args, dict(kwargs or {}))
    except UserError as error:
        if not _packs_sequences(error):
            raise
        raise UserError(
            "torch.export cannot export pack_padded_sequence, after which sizes depend on the lengths: give the padded "
            "sequence and the lengths to cmsis_nn_delegate.VariableLength(layer), which computes the same"
        ) from error


def _packs_sequences(error: BaseException) -> bool:
    """Returns whether `error`, or what has led to it, was raised by what packs sequences, or by a layer that was given
    one."""
    cause: Optional[BaseException] = error
    while cause is not None:
        for frame, _ in traceback.walk_tb(cause.__traceback__):
            file = Path(frame.f_code.co_filename).as_posix()
            if file.endswith("torch/nn/utils/rnn.py") or (
                file.endswith("torch/nn/modules/rnn.py") and frame.f_locals.get("batch_sizes") is not None
            ):
                return True
        cause = cause.__cause__
    return False


STAGES = (
    Stage("capture", _capture, lambda c: program_text(c.exported)),
    Stage("canonicalize", _canonicalize, lambda c: program_text(c.module)),
    Stage("prepare", _prepare, lambda c: program_text(c.prepared)),
    Stage("calibrate", _calibrate, lambda c: program_text(c.prepared)),
    Stage("convert", _convert, lambda c: program_text(c.quantized)),
    Stage("compare", _compare, lambda c: program_text(c.quantized)),
    Stage("correct-biases", _correct_biases, lambda c: program_text(c.quantized)),
    Stage("stream", _stream, lambda c: program_text(c.quantized)),
    Stage("release", _release, lambda c: program_text(c.quantized)),
    Stage("io", _set_io, lambda c: program_text(c.program), refuses=True),
    Stage("partition", _partition, lambda c: program_text(c.edge.exported_program()), refuses=True),
    Stage("import", _import, lambda c: graphs_text(c.graphs), refuses=True),
    Stage("passes", _run_passes, lambda c: graphs_text(c.graphs), refuses=True),
    Stage("legalize", _legalize, lambda c: graphs_text([legal.legal_graph() for legal in c.legal]), refuses=True),
    Stage("choose-kernels", _choose_kernels, lambda c: choices_text(c.chosen), refuses=True),
    Stage("bands", _compute_in_bands, lambda c: choices_text(c.chosen)),
    Stage("plan", _plan, lambda c: plans_text(c.planned), refuses=True),
    Stage("encode", _encode, lambda c: payloads_text(c.encoded), refuses=True),
    Stage("package", _package, lambda c: program_text(c.edge.exported_program())),
    Stage("compare-stream", _compare_stream, lambda c: program_text(c.edge.exported_program())),
)


def selected(names: Collection[str]) -> frozenset[str]:
    """Returns the stages that `names` stand for; "all" means every stage. UserError for an unknown name."""
    known = [stage.name for stage in STAGES]
    unknown = [name for name in names if name not in (*known, "all")]
    if unknown:
        raise UserError(f"there is no stage {unknown[0]!r}; choose one of {', '.join(known)}, or all")
    return frozenset(known if "all" in names else names)


def run(compilation: Compilation, print_after: Collection[str] = ()) -> list[Compiled]:
    """Runs all stages on `compilation`, and prints the result of those named in `print_after`."""
    advance(compilation, STAGES[0].name, STAGES[-1].name, print_after)
    return compilation.compiled


def advance(compilation: Compilation, first: str, last: str, print_after: Collection[str] = ()) -> None:
    """Runs the stages from the one named `first` to that named `last`; those before have run on the compilation."""
    printed = selected(print_after)
    names = [stage.name for stage in STAGES]
    for stage in STAGES[names.index(first) : names.index(last) + 1]:
        try:
            stage.run(compilation)
        except UserError:
            raise
        except ValueError as error:
            if not stage.refuses:
                raise
            refusal = UserError(f"cannot compile {compilation.options.name}: {error}", exit_code=1)
            for note in getattr(error, "__notes__", ()):
                refusal.add_note(note)
            raise refusal from error
        if stage.name in printed:
            print(f"After {stage.name}:\n{stage.text(compilation)}\n", flush=True)
