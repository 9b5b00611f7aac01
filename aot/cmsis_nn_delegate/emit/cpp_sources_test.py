"""The lists of files. //docs:gcc_test compiles what they name, and //tests/forms:lists_test finds missing files."""

import re
from pathlib import Path

import pytest

from cmsis_nn_delegate.emit.cpp_sources import files_of, generate_list
from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import PROVIDERS, kernels, own_implementations
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks

# Of kernels that get calls on some instruction sets only.
_ISAS = {own.kernel.name: own.isas for own in own_implementations()}
_KERNELS = Path(__file__).resolve().parents[3] / "runtime/kernels"


def functions():
    """Each function that a call can name, with its kernel and provider."""
    for kernel in kernels().values():
        for provider in PROVIDERS.values():
            symbol = provider.symbol(kernel)
            if symbol is not None:
                names = [kernel.name, *(part.name for part in symbol.functions)]
                yield from ((kernel, provider, name) for name in names)


def included(file: str) -> set[str]:
    """The headers of kernels that a file includes, directly or not."""
    found, rest = set(), [file]
    while rest:
        path = _KERNELS / rest.pop()
        for name in re.findall(r'^#include "runtime/kernels/(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE):
            if name not in found:
                found.add(name)
                rest.append(name)
    return found


# Headers that several kernels share -> the assembly that they declare.
_SHARED = {
    "add/add_linear_sums_tuned.h": "add/add_linear",
    "avg_pool2d/channel_means_tuned.h": "avg_pool2d/avg_pool2d_channels",
    "max_pool2d/maxima_tuned.h": "max_pool2d/max_pool2d_channels",
}


@pytest.mark.parametrize("isa", Isa)
def test_what_stands_beside_an_included_header_is_listed(isa):
    """All that is not a kernel itself: no function is defined there."""
    of_functions = {Path(files_of(*function, isa)[0][0]).stem for function in functions()}
    instructions = {f"_{other.name.lower()}" for other in Isa}
    for kernel, provider, name in functions():
        if isa not in _ISAS.get(kernel.name, Isa):
            continue
        files, _ = files_of(kernel, provider, name, isa)
        ours = [file.removeprefix("runtime/kernels/") for file in files]
        expected = {ours[0]}
        stems = {Path(header).with_suffix("") for header in included(ours[0])}
        # The assembly of a tuned kernel alone needs no header.
        stems |= {Path(ours[0].replace("_tuned.cc", suffix)) for suffix in instructions}
        # A header that two kernels share declares it.
        for header, assembly in _SHARED.items():
            if header in included(ours[0]):
                stems |= {Path(assembly + suffix) for suffix in instructions}
        for stem in stems - {Path("portable/portable"), Path("tuned/tuned"), Path("cmsis_nn/cmsis_nn")}:
            of_isa = next((suffix for suffix in instructions if stem.name.endswith(suffix)), None)
            if stem.name in of_functions or (of_isa and of_isa != f"_{isa.name.lower()}"):
                continue
            expected |= {str(stem) + suffix for suffix in (".cc", ".S") if (_KERNELS / (str(stem) + suffix)).exists()}
        # A kernel may have loops for some of its instruction sets only.
        assert {file for file in ours if (_KERNELS / file).exists()} == expected, (provider.name, name)


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
def test_a_network_has_the_files_of_its_calls(core):
    payload = encode(networks.ds_cnn(), get_target(core)).payload
    with_cmsis_nn, without = (generate_list("net", payload, with_it) for with_it in (True, False))
    assert "-DCMSIS_NN_DELEGATE_CMSIS_NN\n" in with_cmsis_nn and "CMSIS_NN_DIR" not in without
    for text in (with_cmsis_nn, without):
        lines = text.splitlines()
        assert len(set(lines)) == len(lines)
        assert not re.search(r"/(all|with_cmsis_nn)\.cc|_test\.cc", text)
        for file in re.findall(r'"\$\{CMSIS_NN_DELEGATE_DIR\}/runtime/kernels/(.*)"', text):
            assert (_KERNELS / file).exists()
