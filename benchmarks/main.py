"""Measures networks on simulated cores, and writes tables, JSON and a chart.

    bazel run //benchmarks                                             # networks of MLPerf Tiny on M4 and M55
    bazel run //benchmarks -- --networks all --cores all --out FOLDER  # everything, into FOLDER
    bazel run //benchmarks -- --write                                  # docs/benchmarks.{json,md,svg}, and two pages
    bazel run //benchmarks -- --write --formats                        # of that .json only the formats of numbers
    bazel run //benchmarks -- --write --formats mixed                  # of these only one
    bazel run //benchmarks -- --write --formats --networks ds_cnn      # all of these, of one network
    bazel run //benchmarks -- --write --cycles                         # only the cycles by LLVM's models
    bazel run //benchmarks -- --write --sizes                          # only what other formats of weights take
    bazel run //benchmarks -- --render                                 # .md and .svg again from that .json

The two pages are comparison.md and goals.md.

MLPERF_TINY_WEIGHTS, or --weights, names the folder with the trained weights of the networks of MLPerf Tiny; see
examples/mlperf_tiny/networks.py. Without it they have random ones.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
from benchmarks import anchors, chart, comparison, cycles, goals, markdown
from benchmarks.direct import direct
from benchmarks.flash import flash
from benchmarks.formats import CALIBRATING, OTHERS, Formatted, format_of, measure_formats, merged, network_of
from benchmarks.measure import CHOICES, PROVIDERS, Images, Measurement, measure
from benchmarks.networks import Network, load, names, source
from benchmarks.results import Results, read_results
from benchmarks.sparse import Sparse, measure_sparse
from benchmarks.weights import Weights, measure_weights
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import TARGETS
from examples.mlperf_tiny.networks import NETWORKS as MLPERF_TINY
from examples.mlperf_tiny.networks import WEIGHTS_VARIABLE
from sim.boards import tested_cores
from tests.coverage.network_presets import FORMATS

NAME = "benchmarks"
_DOCS = "docs"
# How a sentence begins that says which modelled cycles there are not.
_CYCLES = "modelled cycles of "
_DEFAULT_CORES = ("cortex-m4", "cortex-m55")
# What --write measures: everything that is part of this repository.
_WRITTEN_KINDS = ("MLPerf Tiny", "tests/coverage/networks.py")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", help="names, separated by commas, or `all`; default: those of MLPerf Tiny")
    parser.add_argument("--cores", default=",".join(_DEFAULT_CORES), help="names, or `all`; default %(default)s")
    parser.add_argument("--providers", default=",".join(PROVIDERS), help="default %(default)s")
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help=f"default: the variable {WEIGHTS_VARIABLE}")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the documents there")
    parser.add_argument("--write", action="store_true", help="write the documents of the source tree")
    parser.add_argument(
        "--formats",
        nargs="?",
        const=",".join(FORMATS),
        metavar="NAMES",
        help="with --write: measure only formats, those with these names or all, keep the rest",
    )
    parser.add_argument("--cycles", action="store_true", help="with --write: model cycles only, keep the rest")
    parser.add_argument("--sizes", action="store_true", help="with --write: other formats of weights only, likewise")
    parser.add_argument("--render", action="store_true", help="write them again, from results that are there")
    options = parser.parse_args(arguments)
    if (options.write or options.render) and (options.out or options.networks and not options.formats):
        parser.error("--write and --render always write the same: leave out --networks and --out")
    parts = [bool(options.formats), options.cycles, options.sizes]
    if any(parts) and not options.write:
        parser.error("--formats, --cycles and --sizes measure a part of what --write does: add --write")
    if sum(parts) > 1:
        parser.error("give one of --formats, --cycles and --sizes: each keeps what the others measure")
    folder = _folder(options)
    try:
        if options.render:
            _write(read_results((folder / f"{NAME}.json").read_text(encoding="utf-8")), folder, True)
            return 0
        known = names()
        chosen = _chosen_networks(options.networks, known, options.write and not options.networks)
        cores = tested_cores() if options.cores == "all" else _listed(options.cores, TARGETS, "core")
        providers = _listed(options.providers, PROVIDERS, "provider")
        if any(parts):
            before = read_results((folder / f"{NAME}.json").read_text(encoding="utf-8"))
            if options.cycles:
                results = with_cycles(before, chosen, providers, _weights(options.weights), Images())
            elif options.sizes:
                results = with_sizes(before, chosen, _weights(options.weights))
            else:
                formats = _listed(options.formats, FORMATS, "format")
                results = with_formats(before, chosen, cores, _weights(options.weights), Images(), formats)
        else:
            results = run(chosen, cores, providers, _weights(options.weights))
    except (UserError, OSError, ValueError) as error:
        print(f"benchmarks: error: {error}", file=sys.stderr)
        return 1
    if folder is None:
        figures = anchors.load()
        print(f"{markdown.render(results, figures)}\n{comparison.render(results, figures)}")
    else:
        _write(results, folder, options.write)
    measured = (*results.measurements, *results.choices, *results.direct, *results.formats)
    return 1 if any(m.differing for m in measured) else 0


def _write(results: Results, folder: Path, with_goals: bool) -> None:
    """Writes the documents; goals are those of all networks and cores, which only --write measures."""
    figures = anchors.load()
    contents = {
        f"{NAME}.json": results.to_json(),
        f"{NAME}.md": markdown.render(results, figures, chart=f"{NAME}.svg"),
        f"{NAME}.svg": chart.draw(results, figures),
        "comparison.md": comparison.render(results, figures),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
        print(f"written: {folder / name}")
    if with_goals:
        # Last, so that nothing that was measured is lost if a goal has no figure.
        (folder / "goals.md").write_text(goals.render(results, figures), encoding="utf-8")
        print(f"written: {folder / 'goals.md'}")


def run(networks: Sequence[str], cores: Sequence[str], providers: Sequence[str], weights: Optional[Path]) -> Results:
    """Measures all combinations, and says so on the terminal. Those that are impossible are left out with a reason.

    UserError if nothing can be measured.
    """
    images = Images()
    left_out = {f"{name}: {reason}": None for name in providers if (reason := images.obstacle(name))}
    providers = [name for name in providers if not images.obstacle(name)]
    measurements: list[Measurement] = []
    simulator = ""
    for name in networks:
        started = time.monotonic()
        try:
            network = load(name, weights)
        except UserError as error:
            left_out[f"{name}: {error}"] = None
            continue
        _say(f"{name}: compiled with {network.weights} weights in {time.monotonic() - started:.0f} s")
        for core in cores:
            for provider in providers:
                try:
                    found, profile = measure(network, core, provider, images)
                except UserError as error:
                    left_out[f"{name} on {core}: {error}"] = None
                    _say(f"{name} on {core}, {provider}: left out: {error}")
                    continue
                simulator = profile.simulator
                measurements.append(found)
                _say(f"{name} on {core}, {provider}: {found.inference:,} instructions, {found.differing} bytes differ")
    if not measurements:
        raise UserError("; ".join(left_out) or "there is nothing to measure")
    choices: list[Measurement] = []
    if "tuned" in providers:
        for name in networks:
            if name in MLPERF_TINY:
                choices += _choices(load(name, weights), cores, measurements, images)
    counted = []
    for name in networks:
        for core in cores:
            if name in direct.NETWORKS and core in direct.CORES:
                try:
                    counted.append(direct.measure(name, core))
                except direct.DirectError as error:
                    left_out[f"direct calls of CMSIS-NN, {name} on {core}: {error}"] = None
                    continue
                _say(f"{name} on {core}, direct calls: {counted[-1].inference:,} instructions")
    linked = []
    for name in networks:
        for core in cores:
            if name in flash.NETWORKS and core in flash.CORES:
                try:
                    linked += [flash.measure(name, core, each) for each in providers if each in flash.PROVIDERS]
                except FileNotFoundError as error:
                    left_out[f"flash of {name} on {core}: {error.filename} is not built"] = None
    environment = images.environment(simulator, measurements[0].core)
    results = Results(
        environment, tuple(measurements), tuple(counted), tuple(choices), tuple(linked), left_out=tuple(left_out)
    )
    found = list(dict.fromkeys(m.network for m in measurements))
    results = with_cycles(results, found, providers, weights, images)
    if "tuned" not in providers:
        return results
    return with_sizes(with_formats(results, found, cores, weights, images), found, weights)


def with_formats(
    results: Results,
    networks: Sequence[str],
    cores: Sequence[str],
    weights: Optional[Path],
    images: Images,
    names: Sequence[str] = FORMATS,
) -> Results:
    """Returns `results` with the formats `names` of these networks as they are measured now, and with those of others
    as they were."""
    formats: list[Formatted] = []
    left_out = [line for line in results.left_out if format_of(line) not in names or network_of(line) not in networks]
    for name in networks:
        found, without = measure_formats(source(name, weights, CALIBRATING, OTHERS), cores, images, _say, names)
        formats += found
        left_out += without
    return dataclasses.replace(
        results,
        formats=tuple(merged(results.formats, formats, names, networks)),
        left_out=tuple(left_out),
    )


def with_sizes(results: Results, networks: Sequence[str], weights: Optional[Path]) -> Results:
    """Returns `results` with what other formats of the weights of these networks, and of no others, would take."""
    sizes: list[Weights] = []
    pruned: list[Sparse] = []
    for name in networks:
        network = load(name, weights)
        sizes.append(measure_weights(network))
        pruned += measure_sparse(network)
        _say(f"{name}: {sizes[-1].nbytes:,} bytes of weights")
    return dataclasses.replace(results, weights=tuple(sizes), sparse=tuple(pruned))


def with_cycles(
    results: Results, networks: Sequence[str], providers: Sequence[str], weights: Optional[Path], images: Images
) -> Results:
    """Returns `results` with the modelled cycles of those of these networks that are in MLPerf Tiny, on all cores that
    LLVM has models of."""
    found: list[cycles.Modelled] = []
    left_out = {line: None for line in results.left_out if not line.startswith(_CYCLES)}
    for name in networks:
        network = load(name, weights) if name in (*MLPERF_TINY, anchors.STREAMING) else None
        for core in cycles.CORES if network else ():
            for chosen in cycles.providers_of(p for p in providers if not images.obstacle(p)):
                try:
                    found.append(cycles.model_cycles(network, core, chosen, images))
                except UserError as error:
                    left_out[f"{_CYCLES}{name} on {core}: {error}"] = None
                    continue
                least, most = found[-1].cycles
                _say(f"{name} on {core}, {chosen}: {least:,} to {most:,} cycles")
    return dataclasses.replace(results, modelled=tuple(found), left_out=tuple(left_out))


def _choices(
    network: Network, cores: Sequence[str], measurements: Sequence[Measurement], images: Images
) -> Iterator[Measurement]:
    """Measures `network` with the kernels `tuned` and each of `CHOICES`, where that is not what another row has."""
    for core in cores:
        known = [m for m in measurements if (m.network, m.core, m.providers) == (network.name, core, "tuned")]
        for choice in CHOICES if known else ():
            found, _ = measure(network, core, "tuned", images, choice)
            same = any(
                (m.inference, m.arena, m.payload) == (found.inference, found.arena, found.payload) for m in known
            )
            if not same:
                known.append(found)
                yield found
            note = "as before" if same else f"{found.inference:,} instructions, {found.differing} bytes differ"
            _say(f"{network.name} on {core}, {choice}: {note}")


def _say(line: str) -> None:
    print(f"- {line}", file=sys.stderr, flush=True)


def _chosen_networks(given: Optional[str], known: dict[str, str], write: bool) -> list[str]:
    if write:
        return [name for name, kind in known.items() if kind in _WRITTEN_KINDS]
    if given is None:
        return [name for name, kind in known.items() if kind == "MLPerf Tiny"]
    return list(known) if given == "all" else _listed(given, known, "network")


def _listed(given: str, known, what: str) -> list[str]:
    found = [name for name in given.split(",") if name]
    for name in found:
        if name not in known:
            raise ValueError(f"unknown {what} {name!r}; choose from {', '.join(known)}")
    if not found:
        raise ValueError(f"no {what} is named; choose from {', '.join(known)}")
    return found


def _weights(given: Optional[Path]) -> Optional[Path]:
    folder = given or os.environ.get(WEIGHTS_VARIABLE)
    return _of_user(Path(folder)) if folder else None


def _folder(options: argparse.Namespace) -> Optional[Path]:
    """Returns the folder to write to; None if there is none."""
    if options.write or options.render:
        return Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / _DOCS
    return _of_user(options.out) if options.out else None


def _of_user(path: Path) -> Path:
    """Returns a path relative to the user's folder: `bazel run` starts programs in another one."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
