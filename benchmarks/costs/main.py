"""Counts the instructions of calls on simulated cores, and fits the models by which the compiler predicts them.

    bazel run //benchmarks/costs -- --write                       # selection/costs.json; takes 20 minutes
    bazel run //benchmarks/costs -- --write --cores cortex-m4,cortex-m7,cortex-m33   # what it says of these cores
    bazel run //benchmarks/costs -- --cores cortex-m4 --count 10  # prints the table of one core, roughly
    bazel run //benchmarks/costs -- --write --operators gru,keep  # what it says of the kernels of these operators
    bazel run //benchmarks/costs -- --write --operators conv2d_pairs,add_int16  # and of single kernels

Calls of networks count too: those of MLPerf Tiny, with their trained weights if MLPERF_TINY_WEIGHTS names their folder,
and those of tests/coverage/networks.py. The table has only what was measured, so use the kernels of CMSIS-NN
(CMSIS_NN_DIR).
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
from benchmarks.costs import fit
from benchmarks.costs.samples import Sample, Sampler
from benchmarks.measure import PROVIDERS, Images
from benchmarks.networks import Network, load, names
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.providers.registry import own_implementations
from cmsis_nn_delegate.selection.costs import MEASURED_CORES, Costs, Model, costs
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from examples.mlperf_tiny.networks import WEIGHTS_VARIABLE

_KINDS = ("MLPerf Tiny", "tests/coverage/networks.py")
_WRITTEN = Path("aot", "cmsis_nn_delegate", "selection", "costs.json")
_COUNT = 40


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = dict.fromkeys(found.core for found in costs().accuracy)
    parser.add_argument("--cores", default=",".join(known), help="default: those of the table")
    parser.add_argument("--count", type=int, default=_COUNT, help="random calls of each kind; default %(default)s")
    parser.add_argument(
        "--operators", help="measure calls of these, or of single kernels, alone, and leave all else as it is"
    )
    parser.add_argument("--write", action="store_true", help="write the table of the source tree")
    options = parser.parse_args(arguments)
    cores = options.cores.split(",")
    if unknown := [core for core in cores if core not in MEASURED_CORES]:
        parser.error(f"unknown cores {', '.join(unknown)}; choose of {', '.join(MEASURED_CORES)}")
    operators = options.operators.split(",") if options.operators else []
    known_names = {*kernels_of(OPS), *OPS, *(own.kernel.name for own in own_implementations())}
    if unknown := [name for name in operators if name not in known_names or not kernels_of([name])]:
        parser.error(f"unknown operators {', '.join(unknown)}; choose of {', '.join(sorted(known_names))}")
    try:
        if operators:
            table = with_operators(costs(), cores, options.count, operators, Images(), networks())
        else:
            table = measure(cores, options.count, networks())
    except (UserError, OSError, ValueError) as error:
        print(f"costs: error: {error}", file=sys.stderr)
        return 1
    if options.write:
        path = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), _WRITTEN)
        before = Costs.of_json(path.read_text(encoding="utf-8"))
        after = table if operators else before.updated(table)
        path.write_text(after.to_json(), encoding="utf-8")
        print(f"written: {path}")
    else:
        print(table.to_json(), end="")
    return 0


def networks() -> list[Network]:
    """Returns the networks whose calls are counted."""
    folder = os.environ.get(WEIGHTS_VARIABLE)
    weights = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), folder) if folder else None
    found = []
    for name in (name for name, kind in names().items() if kind in _KINDS):
        _say(f"compiling {name}")
        found.append(load(name, weights))
    return found


def measure(cores: Sequence[str], count: int, known: Sequence[Network]) -> Costs:
    """Returns the table for `cores`. Those that take the models of another one are measured with networks only, which
    shows how good these are."""
    images = Images()
    if not images.with_cmsis_nn:
        raise UserError(f"the table has CMSIS-NN's kernels too, and the firmware has none: {images.reason}")
    models: dict[tuple[str, str, str, str], Model] = {}
    accuracy = []
    samples: dict[str, list[Sample]] = {}
    simulator = ""
    compilers: tuple[str, ...] = ()
    # Measured ones first.
    for core in sorted(cores, key=lambda core: (MEASURED_CORES[core] != core, cores.index(core))):
        sampler = Sampler(get_target(core), images)
        own = MEASURED_CORES[core] == core
        if not own and MEASURED_CORES[core] not in samples:
            raise UserError(f"{core} takes the models of {MEASURED_CORES[core]}: measure that too")
        # The portable kernels are in images of the measured cores alone.
        usable = [p for p in PROVIDERS if not images.obstacle(p) and (own or p != "portable")]
        calls: dict[str, dict[str, list[Sample]]] = {p: {} for p in usable}
        for providers in usable:
            started = time.monotonic()
            for network in known:
                calls[providers][network.name] = sampler.of_network(network, providers)
            if own:
                samples.setdefault(core, []).extend(sampler.of_operators(providers, count))
            _say(f"{core}, {providers}: {time.monotonic() - started:.0f} s")
        seen = samples[MEASURED_CORES[core]]
        if own:
            seen += [call for networks in calls.values() for some in networks.values() for call in some]
            models |= {(core, *key): model for key, model in fit.models_of(seen).items()}
        accuracy += [fit.accuracy_of(core, ",".join(PROVIDERS[p]), calls[p], seen) for p in usable]
        environment = images.environment(sampler.simulator, core)
        simulator, compilers = environment.simulator, environment.compilers
    cmsis_nn = images.environment(simulator, cores[0]).cmsis_nn
    return Costs(cmsis_nn, compilers, simulator, models, tuple(sorted(accuracy, key=lambda a: (a.core, a.providers))))


def with_operators(
    table: Costs,
    cores: Sequence[str],
    count: int,
    operators: Sequence[str],
    images: Images,
    known: Sequence[Network],
) -> Costs:
    """Returns `table` with models of the kernels of `operators`, of the portable ones and CMSIS-NN's, and of those
    single kernels, tuned ones too, that are named themselves, from random calls and those of the networks `known`."""
    models = dict(table.models)
    kernels = kernels_of(operators)
    drawn = {*operators, *(op.name for op in OPS.values() for kernel in op.kernels if kernel.name in kernels)}
    for core in (core for core in cores if MEASURED_CORES[core] == core):
        sampler = Sampler(get_target(core), images)
        usable = [p for p in PROVIDERS if not images.obstacle(p)]
        of_networks = (sample for p in usable for network in known for sample in sampler.of_network(network, p))
        random = (sample for p in usable for sample in sampler.of_operators(p, count, drawn))
        found = [sample for sample in chain(random, of_networks) if sample.kernel in kernels]
        # Paths that these kernels no longer have go with the models that they had.
        fitted = {sample.kernel for sample in found}
        models = {key: model for key, model in models.items() if key[0] != core or key[2] not in fitted}
        models |= {(core, *key): model for key, model in fit.models_of(found).items()}
        _say(f"{core}: {len(found)} calls")
    return dataclasses.replace(table, models=models)


def kernels_of(operators: Iterable[str]) -> set[str]:
    """Returns the kernels of operators, and what is the name of a kernel itself; tuned ones only by their names."""
    single = {own.kernel.name for own in own_implementations()}
    single |= {kernel.name for op in OPS.values() for kernel in op.kernels}
    of_operators = {kernel.name for name in operators if name in OPS for kernel in OPS[name].kernels}
    return of_operators | {name for name in operators if name in single}


def _say(line: str) -> None:
    print(f"- {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
