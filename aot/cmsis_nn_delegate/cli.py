"""The command line: `cmsisnn accuracy | compile | explain | profile | report | run | targets`.

Results and progress go to stdout. A failure prints one message to stderr. The exit code is 2 if the
arguments or input files are wrong, and 1 if the model cannot be compiled, a run failed, or results differ.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import gc
import io
import json
import os
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from . import __version__
from .errors import UserError, first_line, require_file
from .heartbeat import Heartbeat, numbered
from .payload.files.outputs import check_writable, write_files
from .payload.preference import PREFERENCES, Preference
from .printable import printable
from .quantization.configuration import OBSERVERS, PRESETS, WEIGHTS, Configuration, QuantizationConfig
from .quiet import quiet
from .structured import parse_json
from .target import TARGETS, get_target

if TYPE_CHECKING:
    import numpy as np

    from .accuracy_report import Accuracy, Part
    from .board import Board
    from .compiled import Compiled
    from .graph.ir import Graph
    from .graph.tensor_type import TensorType
    from .payload.files.artifacts import Artifacts
    from .payload.planner.memories import Memory
    from .payload.report.model_report import Report
    from .pipeline import Compilation
    from .quantization.samples import InputSpec, Sample
    from .runner.host_process import HostProcess
    from .runner.profile import Profile

    Results = list[list[np.ndarray]]  # by sample and output

# What takes long to import is imported by the functions that use it: NumPy and the operators take a quarter of a
# second, torch and ExecuTorch seconds.

_UNCHANGED = Configuration("default", None, QuantizationConfig())  # no option says how to quantize

_M_MMAP_THRESHOLD = -3  # of malloc.h


_HEARTBEAT = Heartbeat()


class _Parser(argparse.ArgumentParser):
    """Says what is wrong without repeating the usage. A command's arguments are added when it is parsed, because their
    choices and defaults are those of modules that take a while to import."""

    add_later: Optional[Callable[[argparse.ArgumentParser], None]] = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in the base class, which calls it for the parser of a command, too."""
        if self.add_later is not None:
            add, self.add_later = self.add_later, None
            add(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see `{self.prog} --help`")


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs a command and returns its exit code."""
    debug = "--debug" in (sys.argv[1:] if argv is None else argv)
    parsing = True
    try:
        arguments = _parser().parse_args(argv)
        parsing = False
        if not debug:
            quiet()
        _return_freed_memory()
        with _HEARTBEAT.running():
            return int(arguments.run(arguments))
    except BrokenPipeError:
        # The reader of stdout has gone (`| head`), so nothing more can be printed there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except BaseException as error:
        if isinstance(error, SystemExit) and parsing:
            raise  # --help
        if debug:
            traceback.print_exc()
        message, code = _explained(error)
        message += _shown_graph(error)
    sys.stdout.flush()
    print(f"cmsisnn: error: {printable(message)}", file=sys.stderr)
    return code


def _return_freed_memory() -> None:
    """Makes glibc return what is freed to the system, from 1 MiB on. It reuses little of the aligned memory that
    PyTorch asks for: a compilation would grow to twice what it needs."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 20)


def _explained(error: BaseException) -> tuple[str, int]:
    """Returns the message and exit code for a command that ended with `error`."""
    if isinstance(error, UserError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", 130
    if isinstance(error, OSError):
        return f"{error.filename or 'input/output'}: {error.strerror or error}", 2
    return f"{first_line(error)} (unexpected; --debug shows where)", 1


def _shown_graph(error: BaseException) -> str:
    """Writes the graph in the notes of `error`, if there is one, to a file. Returns text that ends the message."""
    notes = getattr(error, "__notes__", ())
    if not notes:
        return ""
    with tempfile.NamedTemporaryFile("w", prefix="cmsisnn-graph-", suffix=".txt", delete=False) as file:
        file.write("\n".join((str(error), *notes, "")))
    return f"; the graph is in {file.name}"


def _say(line: str) -> None:
    print(f"- {printable(line)}", flush=True)
    _HEARTBEAT.said(printable(line))


def _write(text: str) -> None:
    sys.stdout.write(printable(text))


# Commands -------------------------------------------------------------------


def _compile(arguments: argparse.Namespace) -> int:
    from . import parts_report
    from .payload.planner.memories import copies_weights
    from .payload.report import text
    from .payload.report.budget import Budget
    from .payload.report.page import library

    budget = Budget(arguments.max_arena, arguments.max_flash, arguments.max_instructions)
    board = _board(arguments)
    memories = _memories(arguments)
    if arguments.emit == "cpp" and (len(memories) > 1 or copies_weights(memories)):
        raise UserError(
            "--emit cpp: C++ calls have one arena, and no init() that copies weights: give one --memory that holds no "
            "weights, or none"
        )
    if arguments.html:
        library.check_installed()
    compiled = _compiled(arguments)
    compiled.require(budget)
    if board is not None and compiled.parts:
        try:
            compiled.require(Budget(flash=board.flash_bytes))
        except UserError as error:
            raise UserError(f"{error}. That limit is the flash of board {board.name}", exit_code=1) from error
    files = compiled.files(arguments.emit, arguments.html)
    compiled.put(arguments.output, files)
    if compiled.report is not None:
        print(printable(f"\n{text.render(compiled.report)}"))
    else:
        print("\nThe model is not delegated as a whole, so there is no separate payload\n")
        print(printable(parts_report.render(compiled.parts_document)))
    print("Written")
    for name, content in files.items():
        print(f"  {Path(arguments.output, name)} ({len(content):,} bytes)")
    if compiled.calibration_doubt:
        print(f"Warning: {compiled.calibration_doubt}")
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    from . import explanation

    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        compiled = _compiled(arguments)
    if arguments.json:
        sys.stdout.write(explanation.to_json(compiled))
    else:
        print(printable(f"\n{explanation.render(compiled)}"))
    return 1 if compiled.refused and arguments.strict else 0


def _accuracy(arguments: argparse.Namespace) -> int:
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        measured = _measured(arguments)
    return _judged(measured, arguments)


def _accuracy_sum(arguments: argparse.Namespace) -> int:
    from . import accuracy_report

    parts = [accuracy_report.from_json(text, path) for path in arguments.parts for text in _texts_of(path)]
    return _judged(accuracy_report.merged(parts), arguments)


def _judged(measured: Accuracy, arguments: argparse.Namespace) -> int:
    """Prints the accuracy; 1 if it does not keep the limits."""
    from . import accuracy_report

    _write(measured.to_json() if arguments.json else f"\n{accuracy_report.render(measured)}")
    sys.stdout.flush()
    found = accuracy_report.shortfalls(measured, arguments.min_top1, arguments.min_sqnr, arguments.max_steps)
    if found:
        raise UserError(f"{measured.model} is less accurate than its limits: {'; '.join(found)}", exit_code=1)
    return 0


def _texts_of(path: str) -> list[str]:
    """Returns the text of a file, or those in a .zip."""
    try:
        if not zipfile.is_zipfile(path):
            return [Path(path).read_text(encoding="utf-8")]
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name).decode("utf-8") for name in archive.namelist()]
    except (OSError, UnicodeError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} cannot be read: {error}") from error


def _profile(arguments: argparse.Namespace) -> int:
    from .payload.files.artifacts import Artifacts
    from .payload.report.budget import Budget
    from .runner import chrome_trace, profile_text

    budget = Budget(instructions=arguments.max_instructions)
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    trace = Path(arguments.trace) if arguments.trace is not None else None
    if trace is not None:
        if not trace.name:
            raise UserError(f"--trace {arguments.trace!r} names no file")
        check_writable(trace.parent, [trace.name])
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        profile = _profiled(artifacts, arguments)
    _write(profile.to_json() if arguments.json else f"\n{profile_text.render(profile)}")
    if trace is not None:
        write_files(trace.parent, {trace.name: chrome_trace.to_trace(profile).encode()})
        print(f"Written\n  {trace}", file=sys.stderr if arguments.json else sys.stdout)
    profile_text.require(profile, budget)
    return 0


def _etdump(arguments: argparse.Namespace) -> int:
    with _silenced(debug=False):
        from .runner import etdump
        from .runner.result import RunnerError, parse_report

    uart, output = Path(arguments.uart), Path(arguments.output)
    check_writable(output.parent, [output.name])
    try:
        dump = etdump.from_report(parse_report(uart.read_text(encoding="utf-8", errors="replace")))
    except OSError as error:
        raise UserError(f"{uart} cannot be read: {error}") from error
    except (RunnerError, ValueError) as error:
        raise UserError(f"{uart}: {error}") from error
    write_files(output.parent, {output.name: dump})
    print(f"Written\n  {output}")
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from .payload.files.artifacts import PARTS_SUFFIX, Artifacts
    from .payload.report import text

    if arguments.html is not None:
        return _page(arguments)
    for option in ("profile", "against", "accuracy", "image", "max_arena", "max_flash"):
        if getattr(arguments, option) is not None:
            raise UserError(f"--{option.replace('_', '-')} is for --html")
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    if artifacts.has(PARTS_SUFFIX):
        return _report_parts(artifacts, arguments.json)
    report = _rebuilt_report(artifacts)
    _write(report.to_json() if arguments.json else text.render(report))
    return 0


def _report_parts(artifacts: Artifacts, as_json: bool) -> int:
    from . import parts_report
    from .payload.files.artifacts import PARTS_SUFFIX

    found = parts_report.read(artifacts.path(PARTS_SUFFIX))
    _write(parts_report.to_json(found) if as_json else parts_report.render(found))
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    from .payload.report import difference

    texts = [_report_text(path) for path in (arguments.before, arguments.after)]
    found = difference.compare(texts[0], texts[1], (arguments.before, arguments.after))
    forms = {"text": difference.render, "markdown": difference.render_markdown, "json": difference.Difference.to_json}
    _write(forms[arguments.format](found))
    return 0


def _report_text(path: str) -> bytes:
    """Returns the report at `path`: a JSON file, or a compiled model."""
    from .payload.files.artifacts import Artifacts

    file = Path(path)
    if not path.endswith(".json") or path.endswith(".report.json"):
        artifacts = Artifacts.of(path)
        artifacts.read(".report.json")
        file = artifacts.path(".report.json")
    require_file(file)
    return file.read_bytes()


def _page(arguments: argparse.Namespace) -> int:
    """Writes the page of `report --html`, of NAME.report.json alone."""
    from .accuracy_report import read as read_accuracy
    from .payload.files.artifacts import PAGE_SUFFIX, PARTS_SUFFIX, Artifacts
    from .payload.report.budget import Budget
    from .payload.report.from_json import read_report
    from .payload.report.image_sizes import read_image
    from .payload.report.page import library, render
    from .runner.profile import read as read_profile

    Budget(arguments.max_arena, arguments.max_flash)  # refuses limits below 0
    library.check_installed()
    if arguments.model.endswith(".json"):
        path = Path(arguments.model)
    else:
        artifacts = Artifacts.of(arguments.model)
        artifacts.check()
        suffix = PARTS_SUFFIX if artifacts.has(PARTS_SUFFIX) else ".report.json"
        artifacts.read(suffix)
        path = artifacts.path(suffix)
    begin = path.with_name(path.name.removesuffix(".json").removesuffix(".report").removesuffix(".parts"))
    html = Path(arguments.html) if arguments.html else begin.with_name(begin.name + PAGE_SUFFIX)
    check_writable(html.parent, [html.name])
    if path.name.endswith(PARTS_SUFFIX):
        return _page_of_parts(arguments, path, html)
    report = read_report(path)
    beside = begin.with_name(begin.name + ".profile.json")
    measured = arguments.profile or (beside if beside.is_file() else None)
    profile = None if measured is None else read_profile(measured, report)
    page = render.render(
        report,
        profile,
        None if arguments.against is None else read_report(arguments.against),
        accuracy=None
        if arguments.accuracy is None
        else read_accuracy(arguments.accuracy, report["name"], report["target"]),
        firmware=None if arguments.image is None else read_image(arguments.image),
        limits=_limits(arguments),
    )
    write_files(html.parent, {html.name: page.encode()})
    if profile is None:
        _say(f"without instructions: write them with `cmsisnn profile {begin} --json > {beside}`")
    print(f"Written\n  {html} ({html.stat().st_size:,} bytes)")
    return 0


def _limits(arguments: argparse.Namespace) -> dict[str, int]:
    """Returns the limits that a page shows."""
    limits = {"arena": arguments.max_arena, "flash": arguments.max_flash}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _page_of_parts(arguments: argparse.Namespace, path: Path, html: Path) -> int:
    from . import parts_report
    from .accuracy_report import read as read_accuracy
    from .payload.report.image_sizes import read_image
    from .payload.report.page.parts import render_parts

    if arguments.profile is not None:
        raise UserError("--profile is for models that are one delegate call: `cmsisnn profile` measures no others")
    parts = parts_report.read(path)
    page = render_parts(
        parts,
        None if arguments.against is None else parts_report.read(arguments.against),
        accuracy=None
        if arguments.accuracy is None
        else read_accuracy(arguments.accuracy, parts["name"], parts["target"]),
        firmware=None if arguments.image is None else read_image(arguments.image),
        limits=_limits(arguments),
    )
    write_files(html.parent, {html.name: page.encode()})
    print(f"Written\n  {html} ({html.stat().st_size:,} bytes)")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    import numpy as np

    from .payload.files.artifacts import Artifacts

    for option in ("executor", "core", "image", "layers"):
        if getattr(arguments, option) is not None and arguments.on != "simulator":
            raise UserError(f"--{option} is for --on simulator, not --on {arguments.on}")
    if arguments.layers and (not arguments.compare or arguments.executor == "executorch"):
        raise UserError("--layers needs --compare, and the standalone executor")
    written = _npz_path(arguments.output)
    artifacts = Artifacts.of(arguments.model)
    artifacts.check()
    samples = _samples(artifacts, arguments)
    _say(f"{len(samples)} samples from {arguments.inputs}")
    runners = {"reference": _run_reference, "host": _run_host, "simulator": _run_simulator}
    outputs = runners[arguments.on](artifacts, samples, arguments)
    differing = 0
    if arguments.compare:
        differing = _compare(outputs, _run_reference(artifacts, samples, arguments))
    columns = [np.concatenate([_rows(array) for array in column]) for column in zip(*outputs)]
    for index, column in enumerate(columns):
        print(f"output{index}: {column.dtype}{list(column.shape)}")
        for row in column[:4].reshape(min(len(column), 4), -1):
            shown = " ".join(f"{x:g}" for x in row[:10])
            print(f"  {shown}{' ...' if row.size > 10 else ''}")
    if written is not None:
        content = io.BytesIO()
        named = {f"output{i}": column for i, column in enumerate(columns)}
        np.savez(content, allow_pickle=False, **named)
        write_files(written.parent, {written.name: content.getvalue()})
        print(f"Written\n  {written}")
    return 1 if differing else 0


def _targets(arguments: argparse.Namespace) -> int:
    for target in TARGETS.values():
        print(f"{target.name:16}{target.isa.name.lower()}")
    return 0


# Parts of commands ----------------------------------------------------------


def _board(arguments: argparse.Namespace) -> Optional[Board]:
    """Returns the board of `compile`, if there is one, and sets the target if it is not given."""
    from .board import Board

    if arguments.board is None:
        if arguments.target is None:
            raise UserError("give --target, a core that `cmsisnn targets` lists, or --board")
        return None
    board = Board.of(arguments.board)
    arguments.target = board.target(arguments.target).name
    return board


def _memories(arguments: argparse.Namespace) -> list[Memory]:
    from .board import Board
    from .payload.planner.memories import Memory

    if getattr(arguments, "board", None) is not None:
        return Board.of(arguments.board).memories_of(arguments.memory or ["RAM"])
    try:
        return [Memory.of(text) for text in getattr(arguments, "memory", ())]
    except ValueError as error:
        raise UserError(str(error)) from error


def _rebuilt_report(artifacts: Artifacts) -> Report:
    """Returns the report of compiled files. UserError if the graph does not compile to the payload."""
    from .payload.lower_partition import encode
    from .payload.options import PayloadOptions
    from .payload.report.model_report import build_report

    payload = artifacts.payload()
    graph, about = artifacts.graph()
    try:
        options = PayloadOptions.from_texts(dataclasses.asdict(about))
        target = get_target(about.target)
        modules, lines = parse_json(about.modules, "modules"), parse_json(about.lines, "lines")
    except ValueError as error:
        raise UserError(f"{artifacts.path('.graph.npz')}, about: {error}: compile the model again") from error
    # The graph is in bands already.
    encoded = encode(graph, target, dataclasses.replace(options, max_slowdown=0))
    if encoded.payload != payload.data:
        raise UserError(
            f"{artifacts.path('.graph.npz')} does not compile to {artifacts.path('.payload.bin')}: "
            "compile the model again",
            exit_code=1,
        )
    return build_report(about.name, encoded, about.quantizer, modules, lines)


def _profiled(artifacts: Artifacts, arguments: argparse.Namespace) -> Profile:
    """Measures what `profile` shows."""
    from .runner import profile, simulate

    report = _rebuilt_report(artifacts)
    graph, about = artifacts.graph()
    core = arguments.core or about.target
    if get_target(core).isa is not artifacts.payload().isa:
        raise UserError(
            f"{artifacts.path('.payload.bin')} is for cores with the instruction set {report.isa.lower()}, such as "
            f"{about.target}; {core} has {get_target(core).isa.name.lower()}: compile the model with --target {core}"
        )
    if arguments.cycles and core != simulate.MODELLED_CORE:
        raise UserError(
            f"cycles are modelled for {simulate.MODELLED_CORE} only, and this is for {core}: leave out --cycles; no "
            "model of another core is near the truth"
        )
    image = arguments.image or simulate.default_image(core, profile=True)
    if arguments.inputs is None:
        inputs, about_inputs = profile.random_inputs(graph), "random inputs"
    else:
        first, *others = _samples(artifacts, arguments)
        inputs, about_inputs = list(first), f"the {'first' if others else 'only'} sample of {arguments.inputs}"
    _say(f"simulating {image}")
    return profile.measure(
        report,
        artifacts.payload().data,
        inputs,
        image,
        modules=json.loads(about.modules),
        about_inputs=about_inputs,
        cycles=arguments.cycles,
        timeout_s=arguments.timeout,
        progress=_say,
    )


def _measured(arguments: argparse.Namespace) -> Accuracy:
    """Compiles and measures the model of `accuracy`."""
    from .passes.run_passes import OPTIONAL_PASSES
    from .quantization import samples

    with samples.opened(arguments.data, "data") as arrays:
        labels = arrays.get(arguments.labels) if arguments.labels else None
    if arguments.labels and labels is None:
        raise UserError(f"{arguments.data} has no array {arguments.labels!r} with labels")
    image = arguments.image
    if arguments.on == "simulator" and image is None:
        from .runner import simulate

        image = simulate.default_image(arguments.target)
    elif arguments.on != "simulator" and image is not None:
        raise UserError("--image is for --on simulator")
    compilations: list[Compilation] = []
    if arguments.part is None:
        arguments.skip_pass = list(OPTIONAL_PASSES)  # the device then has every layer's tensor, with the same elements
    _compiled(arguments, compilations.append)
    with _silenced(arguments.debug):
        from . import accuracy

        inputs = compilations[0].inputs
        specs = [samples.InputSpec(name, tuple(x.shape)) for name, x in zip(inputs.names, inputs.tensors)]
        data = _by_name(arguments.data, specs, "data", arguments.labels)
        return accuracy.measure(
            compilations[0],
            data,
            labels,
            part=arguments.part,
            library=arguments.library,
            image=image,
            progress=_say,
        )


def _by_name(path: str, specs: Sequence[InputSpec], purpose: str, labels: Optional[str]) -> dict[str, np.ndarray]:
    """Returns the arrays of a file by the names of inputs, the form in which inputs of any structure are accepted.
    `labels` is the name of an array that is no input."""
    import numpy as np

    from .quantization import samples

    loaded = samples.load(path, specs, purpose, () if labels is None else (labels,))
    return {spec.name: np.concatenate(column) for spec, column in zip(specs, zip(*loaded))}


def _compiled(arguments: argparse.Namespace, inspect: Optional[Callable[[Compilation], None]] = None) -> Compiled:
    """Compiles the model of `compile`, `explain` or `accuracy`."""
    from .model_source import load_model
    from .payload.files.artifacts import SUFFIXES, check_name
    from .quantization import samples

    try:
        get_target(arguments.target)
    except ValueError as error:
        raise UserError(str(error)) from error
    if arguments.name is not None:
        check_name(arguments.name)
    output = getattr(arguments, "output", None)  # `explain` writes nothing
    if output is not None:
        check_writable(output)
    if arguments.calibration is not None:
        require_file(arguments.calibration, "calibration data: ")
    configuration = _configuration(arguments)
    # torch makes millions of objects that stay alive. Searching them for garbage would take a sixth of the time
    # of importing torch and of lowering a model.
    gc.set_threshold(1_000_000, 100, 100)
    _say(f"loading {arguments.model}")
    model = load_model(arguments.model)
    name = arguments.name or model.name
    if output is not None:
        check_writable(output, [name + suffix for suffix in SUFFIXES])
    with _silenced(arguments.debug):
        from .compile import compile_model
        from .quantization.calibration import Examples
        from .quantization.interface import Inputs, required_names
        from .quantization.quantized import is_quantized
        from .quantization.quantizer import CmsisNnQuantizer

        quantized = is_quantized(model.module)
        if arguments.calibration is None and not quantized and hasattr(arguments, "data"):
            _say(f"calibrating with {arguments.data}, for lack of --calibration")
            arguments.calibration = arguments.data
        if arguments.calibration is None and not (quantized or arguments.calibration_optional):
            raise UserError("calibration data is missing: give --calibration FILE.npz with representative inputs")
        examples = model.example_inputs
        if examples is None:
            specs = [samples.InputSpec(name) for name in required_names(model.module)]
        else:
            inputs = Inputs.of(model.module, examples)
            specs = [samples.InputSpec(n, tuple(x.shape)) for n, x in zip(inputs.names, inputs.tensors)]
        if arguments.calibration is None:
            if examples is None:
                raise UserError(
                    f"{arguments.model} gives no example inputs: return (module, example_inputs), or give --calibration"
                )
            calibration: Any = None if quantized else Examples([examples])
        else:
            calibration = _by_name(arguments.calibration, specs, "calibration data", arguments.labels)
            if examples is None:
                examples = {name: array[:1] for name, array in calibration.items()}
        return compile_model(
            model.module,
            examples,
            arguments.target,
            calibration,
            io=arguments.io,
            io_placement=arguments.io_placement,
            providers=arguments.providers.split(","),
            prefer=arguments.prefer,
            max_flash_growth=arguments.max_flash_growth,
            memories=_memories(arguments),
            quantizer=None if quantized and configuration == _UNCHANGED else CmsisNnQuantizer.of(configuration),
            strict=arguments.strict and not arguments.calibration_optional,
            skip_passes=arguments.skip_pass or (),
            max_slowdown=arguments.max_slowdown,
            check=arguments.check,
            etrecord=getattr(arguments, "etrecord", False),
            name=name,
            print_after=arguments.print_after or (),
            progress=_say,
            inspect=inspect,
        )


def _configuration(arguments: argparse.Namespace) -> Configuration:
    """Returns how the model is to be quantized."""
    from .quantization import configuration_file

    given = arguments.quantizer
    if given.endswith((".yaml", ".yml")):
        for option in ("observer", "linear_weights"):
            if getattr(arguments, option) is not None:
                raise UserError(f"--{option.replace('_', '-')} is given beside {given}: write it into that file")
        return configuration_file.load(given)
    if given not in PRESETS:
        raise UserError(f"--quantizer is {given!r}; give a FILE.yaml, or a preset: {', '.join(PRESETS)}")
    return Configuration(given, arguments.linear_weights, QuantizationConfig(observer=arguments.observer))


@contextlib.contextmanager
def _silenced(debug: bool) -> Iterator[None]:
    """Drops what libraries write to stderr; failures get our own messages."""
    if debug:
        yield
        return
    with contextlib.redirect_stderr(io.StringIO()):
        yield


def _npz_path(output: Optional[str]) -> Optional[Path]:
    """Returns the file of `run -o` after checking that it can be written."""
    if output is None:
        return None
    path = Path(output)
    if not path.name:
        raise UserError(f"--output {output!r} names no file")
    if path.suffix != ".npz":
        path = path.with_name(path.name + ".npz")
    check_writable(path.parent, [path.name])
    return path


def _samples(artifacts: Artifacts, arguments: argparse.Namespace) -> list[Sample]:
    """Returns the inputs of `run`, in the types that the model takes."""
    import numpy as np

    from .quantization import samples

    wanted: list[tuple[np.dtype[Any], Optional[TensorType]]]
    if artifacts.has(".graph.npz"):
        graph, _ = artifacts.graph()
        specs = [samples.InputSpec(value.name, value.shape) for value in graph.inputs]
        wanted = [(value.element.numpy, value.type) for value in graph.inputs]
    else:
        program = _host_program(artifacts, arguments)
        specs = [samples.InputSpec(f"input{i}", s) for i, s in enumerate(program.input_shapes)]
        try:
            wanted = [(np.dtype(dtype), None) for dtype in program.input_dtypes]
        except TypeError as error:
            raise UserError(f"{artifacts.path('.pte')} has an input of a type that is unknown here: {error}") from error
    loaded = [tuple(map(samples.for_device, sample)) for sample in samples.load(arguments.inputs, specs, "inputs")]
    if artifacts.has(".graph.npz"):
        _check_indices(graph, loaded, arguments.inputs)
    for index, (dtype, tensor) in enumerate(wanted):
        given = loaded[0][index].dtype
        if given == dtype:
            continue
        if dtype != np.int8 or tensor is None:
            raise UserError(f"{arguments.inputs}: input {index} is {given}; the model takes {dtype}")
        quant = tensor.per_tensor
        _say(f"input {index}: quantizing with scale {quant.scale[0]:.9g}, zero point {quant.zero_point}")
    return [
        tuple(
            array if tensor is None or array.dtype == dtype else tensor.quantize(array)
            for array, (dtype, tensor) in zip(sample, wanted)
        )
        for sample in loaded
    ]


def _check_indices(graph: Graph, loaded: list[Sample], path: str) -> None:
    """UserError names an index that is in no table; a device would return an error, and not say which one it was."""
    from .ops.embedding import index_range

    for number, value in enumerate(graph.inputs):
        limits = index_range(graph, value)
        for count, sample in enumerate(loaded if limits else ()):
            low, high = limits or (0, 0)
            outside = sample[number][(sample[number] < low) | (sample[number] > high)]
            if outside.size:
                raise UserError(
                    f"{path}: sample {count} of input {value.name} holds the index {outside[0]}; the model's tables "
                    f"take {low} to {high}"
                )


def _run_reference(artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace) -> Results:
    from . import reference

    graph, _ = artifacts.graph()
    _say("running the integer reference")
    # One after the other, as on a device: a model may keep a state.
    states = reference.initial_states(graph)
    return [reference.run(graph, sample, states=states) for sample in numbered(samples, "sample")]


def _run_host(artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace) -> Results:
    program = _host_program(artifacts, arguments)
    channels_last = []
    if artifacts.has(".payload.bin"):
        tensors = artifacts.payload().inputs
        channels_last = [i for i, t in enumerate(tensors) if t.dim_order == (0, 2, 3, 1)]
    _say("running under ExecuTorch's runtime")
    return [program.run(sample, channels_last) for sample in numbered(samples, "sample")]


def _host_program(artifacts: Artifacts, arguments: argparse.Namespace) -> HostProcess:
    from .runner.host_process import HostProcess

    if getattr(arguments, "started", None) is None:
        arguments.started = HostProcess(artifacts.read(".pte"), arguments.library, artifacts.path(".pte"))
    started: HostProcess = arguments.started
    return started


def _run_simulator(artifacts: Artifacts, samples: list[Sample], arguments: argparse.Namespace) -> Results:
    from .runner import simulate

    payload = artifacts.payload()
    executor = arguments.executor or "standalone"
    program = artifacts.read(".pte") if executor == "executorch" else None
    image = arguments.image
    if image is None:
        core = arguments.core or artifacts.graph()[1].target
        image = simulate.default_image(core, executor, profile=bool(arguments.layers))
    _say(f"simulating {image}")
    if arguments.layers:
        return _run_layers(artifacts, samples, image, arguments)
    run = simulate.run(payload.data, samples, image, program=program, timeout_s=arguments.timeout, progress=_say)
    print(
        f"core {run.info.core}, {run.info.isa}; kernels {run.info.kernels}; "
        f"executor {run.info.executor}; {run.simulator}"
    )
    print(f"arena {run.arena_bytes:,} bytes, handle {run.runtime_bytes:,}, stack {run.stack_bytes:,}")
    if run.instructions:
        mean = sum(run.instructions) // len(run.instructions)
        print(f"instructions: {run.init_instructions:,} for init, {mean:,} for an inference")
    return run.outputs


def _run_layers(artifacts: Artifacts, samples: list[Sample], image: str, arguments: argparse.Namespace) -> Results:
    """Says which call is the first to differ from the reference."""
    from .runner import layers

    graph, _ = artifacts.graph()
    found = layers.compare(artifacts.payload().data, graph, samples, image, timeout_s=arguments.timeout, progress=_say)
    print(found)
    return found.outputs


def _compare(outputs: Results, expected: Results) -> int:
    """Prints and returns the number of bytes that differ from the reference."""
    import numpy as np

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


# Arguments ------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="cmsisnn", description="PyTorch models on Cortex-M with CMSIS-NN.")
    parser.add_argument("--version", action="version", version=f"cmsisnn {__version__}")
    parser.add_argument("--debug", action="store_true", help="show warnings, and where an error occurred")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(
        name: str,
        run: Callable[[argparse.Namespace], int],
        description: str,
        add_arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
    ) -> None:
        sub = commands.add_parser(name, help=description, description=description)
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        sub.set_defaults(run=run)
        sub.add_later = add_arguments

    command("compile", _compile, "quantize a model and compile it for a core", _add_compile_arguments)
    command(
        "explain",
        _explain,
        "say for every function of a model whether it is delegated, and why not",
        _add_explain_arguments,
    )
    command(
        "accuracy",
        _accuracy,
        "compare the outputs and layers of a quantized model with the float model",
        _add_accuracy_arguments,
    )
    command(
        "accuracy-sum",
        _accuracy_sum,
        "add up what `accuracy --json --part` printed for all parts of the data",
        _add_accuracy_sum_arguments,
    )
    command("profile", _profile, "count the instructions of every call on a simulated core", _add_profile_arguments)
    command(
        "etdump",
        _etdump,
        "write what a device's profile image printed for ExecuTorch's Inspector",
        _add_etdump_arguments,
    )
    command("report", _report, "show RAM, flash and calls of a compiled model", _add_report_arguments)
    command(
        "diff",
        _diff,
        "show what differs between two compiled models, images or profiles, largest first",
        _add_diff_arguments,
    )
    command("run", _run, "run a compiled model", _add_run_arguments)
    command("targets", _targets, "list the cores and their instruction sets")
    return parser


def _add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    from .payload.files.artifacts import EMITS

    _add_model_arguments(parser, target_required=False)
    _add_program_arguments(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder for the files")
    parser.add_argument(
        "--board",
        metavar="NAME|FILE.json",
        help="the board, instead of a target: a simulated one, or NAME.board.json, which Bazel writes beside an image. "
        "Each --memory is then one of its memories, all of it if no size is given, by default RAM, and the payload has "
        "to fit its flash",
    )
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="NAME=SIZE[:KINDS]",
        help="RAM, such as dtcm=64K, for activations and scratch memory, or for other kinds of data: some of "
        "activations, scratch, state and weights, separated by commas. Give each memory of the device, the fastest "
        "first. What is touched most lies there, and the last one is the arena. init() copies weights to the memory "
        "that holds these, as many as it has room for. Default: one arena of any size",
    )
    parser.add_argument("--etrecord", action="store_true", help="also write NAME.etrecord, for ExecuTorch's Inspector")
    parser.add_argument("--max-arena", type=_bytes, metavar="BYTES", help="fail if the arena takes more")
    parser.add_argument("--max-flash", type=_bytes, metavar="BYTES", help="fail if the payload takes more")
    parser.add_argument(
        "--max-instructions",
        type=int,
        metavar="COUNT",
        help="fail if the calls of an inference are predicted to take more",
    )
    parser.add_argument(
        "--emit",
        choices=EMITS,
        default="payload",
        help="cpp: also write the calls as C++, NAME.model.h and NAME.model.cc, for images without the payload's "
        "reader, and lists of the files to compile with them; default %(default)s",
    )
    parser.add_argument("--html", action="store_true", help="also write NAME.report.html, a page for a browser")
    parser.set_defaults(calibration_optional=False)


def _add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    _add_model_arguments(parser)
    _add_program_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    parser.set_defaults(calibration_optional=True)


def _add_accuracy_arguments(parser: argparse.ArgumentParser) -> None:
    _add_model_arguments(parser, target="cortex-m55")
    parser.add_argument("--data", required=True, metavar="FILE.npz", help="inputs to compare on")
    parser.add_argument(
        "--labels", nargs="?", const="labels", metavar="NAME", help="the array of --data with the class of each input"
    )
    parser.add_argument("--library", metavar="FILE", help="the delegate's shared library, for models in several parts")
    parser.add_argument(
        "--on",
        choices=("host", "simulator"),
        default="host",
        help="what computes the device's outputs: its kernels on this machine, or firmware on a simulated core",
    )
    parser.add_argument("--image", metavar="NAME.elf", help="simulator: runner firmware; default is Bazel's")
    parser.add_argument(
        "--part",
        type=_part,
        metavar="I/N",
        help="measure every Nth sample from the Ith on, and no layers; `accuracy-sum` adds up all parts",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    _add_accuracy_limits(parser)
    parser.set_defaults(calibration_optional=False, io="float", io_placement="arena", strict=False, check=True)


def _add_accuracy_sum_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parts", nargs="+", metavar="PART.json", help="or a .zip of such files, as Bazel keeps a test's outputs"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    _add_accuracy_limits(parser)


def _add_profile_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `compile` wrote, or their common beginning")
    parser.add_argument("--core", choices=tuple(TARGETS), help="default is the model's target")
    parser.add_argument("--inputs", metavar="FILE.npz", help="its first sample is run; default: random inputs")
    parser.add_argument(
        "--image",
        metavar="NAME_profile.elf",
        help="runner firmware that marks calls, with NAME.elf beside it; default is Bazel's",
    )
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="of each run, default 600")
    parser.add_argument("--cycles", action="store_true", help="also model cycles and waits for flash; for cortex-m4")
    parser.add_argument("--trace", metavar="FILE.json", help="also write a trace for Perfetto (ui.perfetto.dev)")
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    parser.add_argument(
        "--max-instructions", type=int, metavar="COUNT", help="fail if the inference executes more, with its executor"
    )


def _add_etdump_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("uart", metavar="UART.txt", help="what the device printed: lines that begin with ##")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.etdump")


def _add_report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `compile` wrote, or their common beginning")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON")
    shown.add_argument(
        "--html",
        nargs="?",
        const="",
        metavar="FILE.html",
        help="write a page to look at in a browser, by default NAME.report.html; needs only NAME.report.json, or "
        "NAME.parts.json of a model in several parts",
    )
    parser.add_argument(
        "--profile",
        metavar="FILE.json",
        help="page: what `profile --json` printed; default NAME.profile.json if it exists",
    )
    parser.add_argument("--against", metavar="FILE.report.json", help="page: an earlier report to compare with")
    parser.add_argument("--accuracy", metavar="FILE.json", help="page: what `accuracy --json` printed for the model")
    parser.add_argument(
        "--image", metavar="IMAGE.size.json", help="page: sizes of a firmware, as built beside its .elf"
    )
    parser.add_argument("--max-arena", type=_bytes, metavar="BYTES", help="page: show how much of this is taken")
    parser.add_argument(
        "--max-flash", type=_bytes, metavar="BYTES", help="page: show how much of this the payload takes"
    )


def _add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("before", "after"):
        parser.add_argument(
            name, help="a compiled model, IMAGE.size.json of a firmware, or what `profile --json` printed"
        )
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default text")


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `compile` wrote, or their common beginning")
    parser.add_argument(
        "--on",
        choices=("reference", "host", "simulator"),
        default="reference",
        help="the integer reference in numpy; ExecuTorch's runtime here; a simulated core",
    )
    parser.add_argument(
        "--inputs", required=True, metavar="FILE.npz", help="one array for each input, see docs/guides/compiling.md"
    )
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="file for the outputs")
    parser.add_argument("--compare", action="store_true", help="count bytes that differ from the reference")
    parser.add_argument(
        "--layers",
        action="store_true",
        default=None,
        help="simulator: with --compare, name the first call that writes other bytes than the reference",
    )
    parser.add_argument("--library", metavar="FILE", help="host: the delegate's shared library")
    parser.add_argument("--core", choices=tuple(TARGETS), help="simulator: default is the model's target")
    parser.add_argument(
        "--executor", choices=("standalone", "executorch"), help="simulator: what runs the model, default standalone"
    )
    parser.add_argument("--image", metavar="FILE.elf", help="simulator: runner firmware, default is Bazel's")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="simulator: default 600")


def _add_model_arguments(
    parser: argparse.ArgumentParser, target: Optional[str] = None, target_required: bool = True
) -> None:
    """Adds what says how a model is quantized and compiled. `target` is a default."""
    from .ops.providers.registry import PROVIDERS
    from .passes.run_passes import OPTIONAL_PASSES

    parser.add_argument(
        "model", metavar="FILE.py:FUNCTION", help="a function that returns a module, or (module, example_inputs)"
    )
    default = f", default {target}" if target else ""
    parser.add_argument(
        "--target",
        required=target_required and not target,
        default=target,
        metavar="CORE",
        help=f"see `cmsisnn targets`{default}",
    )
    parser.add_argument(
        "--calibration", metavar="FILE.npz", help="representative inputs, unless the model is quantized already"
    )
    parser.add_argument(
        "--providers",
        default=",".join(PROVIDERS),
        metavar="NAMES",
        help="providers of the firmware's kernels, in order of preference, default %(default)s",
    )
    parser.add_argument(
        "--prefer",
        choices=PREFERENCES,
        default=Preference.SPEED.value,
        help="what kernels are chosen by where a call has several, default %(default)s",
    )
    parser.add_argument(
        "--max-slowdown",
        type=float,
        metavar="PERCENT",
        help="make the arena smaller by computing convolutions in bands of rows, in at most so many more instructions, "
        "as estimated; default 10 with --prefer ram, else 0: do not",
    )
    parser.add_argument(
        "--max-flash-growth",
        type=_bytes,
        default=0,
        metavar="BYTES",
        help="how much larger kernels that trade flash for speed may make the payload, default %(default)s",
    )
    parser.add_argument(
        "--quantizer",
        default="default",
        metavar="FILE.yaml|PRESET",
        help="how the model is quantized, by a file with overrides or a preset, default `default`",
    )
    parser.add_argument(
        "--linear-weights",
        choices=WEIGHTS,
        help="scales of linear layers; per-tensor is faster but less exact, default per-channel",
    )
    parser.add_argument(
        "--observer",
        choices=OBSERVERS,
        help="how ranges are found; minmax is faster and clips nothing, default histogram",
    )
    parser.add_argument(
        "--skip-pass",
        action="append",
        metavar="PASS",
        help=f"leave out a pass that saves work: {', '.join(OPTIONAL_PASSES)}; may be given several times",
    )
    parser.add_argument(
        "--print-after",
        action="append",
        metavar="STAGE",
        help="print the program or graph after a stage of the compiler, or `all`; may be given several times",
    )
    parser.add_argument("--name", help="name of the files, default is the function's")
    parser.set_defaults(labels=None)


def _bytes(text: str) -> int:
    from .byte_counts import byte_count

    try:
        return byte_count(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _part(text: str) -> Part:
    from .accuracy_report import Part

    try:
        return Part.of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_accuracy_limits(parser: argparse.ArgumentParser) -> None:
    """Adds limits, as `accuracy_report.shortfalls` takes them."""
    parser.add_argument(
        "--min-top1",
        type=float,
        metavar="SHARE",
        help="fail if fewer of the labels are right on the device, from 0 to 1",
    )
    parser.add_argument(
        "--min-sqnr", type=float, metavar="DB", help="fail if the device's outputs have less signal to noise"
    )
    parser.add_argument(
        "--max-steps",
        type=int,
        metavar="COUNT",
        help="fail if an output of the device differs by more steps from the quantized model in PyTorch",
    )


def _add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what says how the program looks from outside, and what is checked of it."""
    parser.add_argument(
        "--io", choices=("float", "int8"), default="float", help="type of inputs and outputs, default float"
    )
    parser.add_argument(
        "--io-placement",
        choices=("arena", "caller"),
        default="arena",
        help="whether the arena has room for inputs and outputs, default arena",
    )
    parser.add_argument("--strict", action="store_true", help="fail if a node is not delegated")
    parser.add_argument(
        "--no-check", dest="check", action="store_false", help="do not compare the quantized model with the float one"
    )


if __name__ == "__main__":
    sys.exit(main())
