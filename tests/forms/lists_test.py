"""NAME.sources.txt has every file that a function of a kernel needs, and that these need, in whatever call."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cmsis_nn_delegate.emit.cpp_sources import files_of
from cmsis_nn_delegate.providers.registry import PROVIDERS, kernels
from cmsis_nn_delegate.targets.target import get_target


def symbols_of(archives):
    """Returns what object files of kernels define for others, and what they need: (archive, name) -> two sets."""
    found = {}
    for archive in archives:
        for line in subprocess.run(
            ["nm", "--format=posix", archive], check=True, capture_output=True, text=True
        ).stdout.splitlines():
            if member := re.fullmatch(r".*\[(\w+)(?:\.pic)?\.o\]:", line):
                defines, needs = found[archive, member[1]] = set(), set()
            elif line.split()[1] in "UTDRB":  # of other files, or for them
                (needs if line.split()[1] == "U" else defines).add(line.split()[0])
    return found


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not on PATH")
@pytest.mark.parametrize("core", ["cortex_m0plus", "cortex_m4", "cortex_m55", "host"])
def test_lists_of_files_are_complete(core):
    target = get_target("cortex-m0plus" if core == "host" else core.replace("_", "-"))
    symbols = symbols_of(path for path in os.environ[core.upper()].split() if re.search("kernels/|cmsis_nn/", path))
    defined_in = {symbol: name for (_, name), (defines, _) in symbols.items() for symbol in defines}
    checked = 0
    for kernel in kernels().values():
        for provider in PROVIDERS.values():
            symbol = provider.symbol(kernel)
            for function in [kernel.name, *(part.name for part in symbol.functions)] if symbol else []:
                ours, theirs = files_of(kernel, provider, function, target.isa)
                listed = {Path(file).stem for file in (*ours, *theirs)}  # each is the name of one file
                there = [needs for (_, name), (_, needs) in symbols.items() if name in listed]
                needed = {defined_in.get(symbol) for needs in there for symbol in needs} - {None}
                assert needed <= listed, (provider.name, function)
                checked += len(there)
    assert checked > 80
