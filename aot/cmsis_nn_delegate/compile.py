"""Compiles a module to everything that is deployed: `compile_model`.

For example:

    compiled = compile_model(module, (x,), "cortex-m55", calibration=[(x0,), (x1,)], io="int8")
    compiled.write("out")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Optional, Union, Unpack, cast

from .compile_options import CompileOptions, Keywords
from .compiled import Compiled
from .files.artifacts import check_name
from .partition.io_types import IoTypes
from .pipeline import Compilation, Progress, run, selected
from .quantization import calibration as calibration_data
from .quantization.interface import Arguments, Inputs, Model, check_model
from .quantization.named_states import NamedStates
from .quantization.quantized import is_quantized
from .quantization.quantizer import CmsisNnQuantizer
from .selection.options import PayloadKeywords, PayloadOptions
from .streaming.option import Stream
from .support.checked import checked
from .support.errors import UserError
from .support.isolation import as_caller, isolated
from .targets.target import Target, get_target


@checked("module", "example_inputs")
def compile_model(
    module: Model,
    example_inputs: Arguments,
    target: Union[str, Target],
    calibration: Any = None,
    *,
    print_after: Collection[str] = (),
    progress: Progress = lambda line: None,
    inspect: Optional[Callable[[Compilation], None]] = None,
    **options: Unpack[Keywords],
) -> Compiled:
    """Quantizes, partitions and encodes `module` for `target`.

    A module that is quantized already, by `convert_trained` for example, or its exported program, is compiled as it is:
    leave out `calibration` and what else says how to quantize. It is not compared with a float model. The shapes of
    `example_inputs` may differ from those it was trained with if it can be exported with them.

    example_inputs: the float32 inputs of `forward`, as a tuple or list by position or a dict by name; both may contain
        further tuples, lists and dicts. `interface` defines the order in which the compiled program takes them.
    calibration: representative inputs, which set the scales of all activations: an iterable of samples with the
        structure of `example_inputs`. The module `calibration` says what else it may be. `Sequences` are for models
        that keep a state, which starts anew with each.
    state: inputs that the compiled model keeps itself, each with the output that is its next value: {"h": 1} for
        `forward(x, h)` that returns `(y, h2)`, {"h": "h2"} where it returns a dict. Outputs are counted in the order of
        the compiled program. The compiled model, calibration data included, has neither that input nor that output; the
        example input is the value that the state begins with, commonly zeros.
    stream: the dimension of the inputs along which columns arrive one after the other, or `Stream(dim, hop)` for
        `hop` at a time. The compiled model takes only the new columns, remembers what it needs of those before, and
        returns what the model returns for the window that ends there, byte for byte. Calibration data are windows as
        before. UserError names what depends on the window in another way; see docs/guides/stream.md.
    io: the type of inputs and outputs, "float" (the default), "int8" or "int16"; "quantized" for the one that each is
        quantized to, float where it is not; or types by name, such as {"x": "int16", "outputs": "int8"}, see `IoTypes`.
    io_placement: "arena", the default, reserves room for the payload's inputs and outputs in its arena, "caller" does
        not.
    providers: the providers of the firmware's kernels, in order of preference, by default all of
        `cmsis_nn_delegate.providers`.
    prefer: what kernels are chosen by where a call has several: "speed" (the default), "flash" or "ram"; see
        `selection.preference`.
    max_flash_growth: bytes that each payload may grow by for kernels that trade flash for speed, by default none; only
        with "speed".
    strict: raise UserError if any node stays outside of the delegate. It is not by default.
    skip_passes: passes of `run_passes.OPTIONAL_PASSES` that are left out, by default none; they save work and change no
        result.
    memories: the RAM of the device for activations and scratch memory, the fastest memory first; see
        `targets.memory`. UserError if the model does not fit; by default there is one arena of any size.
    max_slowdown: by how many percent more instructions, as predicted, the arena may be made smaller: chains of
        convolutions at its peak are then computed in bands of rows, see `selection.bands`. With 0 they are not; None,
        the default, means 10 if RAM is preferred, else 0.
    name: of the model and of the files that are written, "model" by default.
    observer: how ranges are found, "histogram" or "minmax" for example; see `configuration.QuantizationConfig`.
    linear_weights: "per-channel", or "per-tensor" for faster but less exact layers; see `quantizer`.
    quantizer: with a preset, and overrides for parts of the model; instead of `observer` and `linear_weights`.
    check: compare the quantized model with the float one on up to 8 of the samples; see `comparison`. It takes
        about as long as 10 inferences in PyTorch for each of these, and is done by default.
    etrecord: also make the record with which ExecuTorch's Inspector names the operators of each call. It is not made by
        default.
    print_after: stages of `pipeline.STAGES`, or "all", after which to print the program or graph.
    progress: called with a line before each step.
    inspect: called at the end with the results of all stages, such as the module with its observers.

    `module` and all tensors passed in stay unchanged. It neither depends on global settings, such as the default dtype,
    autocast and the state of random generators, nor changes them. Several threads may call it; one of them compiles at
    a time, and the others wait. `calibration`, `progress` and `inspect` must not wait for another compilation.

    UserError for unknown names, for unusable inputs or weights (including NaN and infinity), and for modules
    that cannot be copied or that torch.export cannot handle.
    """
    (compiled,) = compile_for_targets(
        module,
        example_inputs,
        [target],
        calibration,
        print_after=print_after,
        progress=progress,
        inspect=inspect,
        **options,
    )
    return compiled


@checked("module", "example_inputs")
@isolated()
def compile_for_targets(
    module: Model,
    example_inputs: Arguments,
    targets: Sequence[Union[str, Target]],
    calibration: Any = None,
    *,
    print_after: Collection[str] = (),
    progress: Progress = lambda line: None,
    inspect: Optional[Callable[[Compilation], None]] = None,
    **options: Unpack[Keywords],
) -> list[Compiled]:
    """Returns the result of `compile_model`, which describes the arguments, for each of `targets`.

    The model is quantized and partitioned only once, which takes nearly all of the time.
    """
    selected(print_after)
    compilation = requested(
        module,
        example_inputs,
        targets,
        calibration,
        progress=as_caller()(progress),
        keep_modules=inspect is not None,
        **options,
    )
    results = run(compilation, print_after)
    if inspect is not None:
        with as_caller():
            inspect(compilation)
    return results


@checked("module", "example_inputs")
def requested(
    module: Model,
    example_inputs: Arguments,
    targets: Sequence[Union[str, Target]],
    calibration: Any = None,
    *,
    progress: Progress = lambda line: None,
    keep_modules: bool = False,
    **options: Unpack[Keywords],
) -> Compilation:
    """Returns the checked request of `compile_for_targets`, of which no stage has run. Inside of `isolated` only."""
    name = options.get("name", "model")
    check_name(name)
    if not targets:
        raise UserError("no target is given")
    given = {option: value for option, value in options.items() if option in PayloadKeywords.__annotations__}
    payload = PayloadOptions.of(**cast(PayloadKeywords, given))
    quantizer, how = options.get("quantizer"), (options.get("observer"), options.get("linear_weights"))
    is_configured = quantizer is not None or how != (None, None)
    try:
        chosen = tuple(t if isinstance(t, Target) else get_target(t) for t in targets)
        if quantizer is None:
            quantizer = CmsisNnQuantizer(*how)
        elif how != (None, None):
            raise UserError("give a quantizer, or observer and linear_weights, but not both")
    except ValueError as error:
        raise UserError(str(error)) from error
    quantized = is_quantized(module)
    if quantized and (calibration is not None or is_configured):
        raise UserError(
            "the model is quantized already: leave out calibration data and quantizer, or give the float model"
        )
    types = IoTypes.of(options.get("io", "float"))
    check_model(module)
    state, stream = options.get("state"), options.get("stream")
    states = NamedStates(module, example_inputs, state) if state else None
    inputs = Inputs.of(module, example_inputs) if states is None else states.inputs
    if not quantized:
        calibration_data.check(calibration)

    return Compilation(
        model=module,
        states=states,
        inputs=inputs,
        targets=chosen,
        calibration=calibration,
        options=CompileOptions(
            io=types,
            strict=options.get("strict", False),
            name=name,
            quantizer=quantizer,
            check=options.get("check", True),
            etrecord=options.get("etrecord", False),
            payload=payload,
            stream=Stream(stream) if isinstance(stream, int) else stream,
        ),
        is_quantized=quantized,
        keep_modules=keep_modules,
        progress=progress,
    )
