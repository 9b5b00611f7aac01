"""The tutorial, from its first to its last command, except the builds of Bazel.

Output below a command must be what the command prints. `bazel run //docs:figures` writes it anew.
"""

from __future__ import annotations

import re
import shutil

import figures
import pytest
from code_blocks import compile_cpp, tried

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

TUTORIAL = figures.ROOT / figures.TUTORIAL
REFRESH = "run `bazel run //docs:figures`"
# Weights, and what follows from them, are those of the machine that trains: only the text of these lines is compared.
OF_THE_WEIGHTS = re.compile(r"(float|quantized|device) .*SQNR|^(float|quantized|device) .* %|outputs differ by at most")
# A few branches of kernels follow from the weights: instructions are those of the document to 2 %.
OF_BRANCHES = re.compile(r"^instructions: | +(\d+ +\w+ +(tuned|cmsis-nn|portable) |executor |inference )")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder my_digits after step 1."""
    found = tmp_path_factory.mktemp("work") / "my_digits"
    found.mkdir()
    make_torch_faster()
    figures.train_tutorial(found)
    return found


@pytest.fixture(scope="module")
def printed(folder):
    """Each command's words, the block below it, and what it prints."""
    with figures.in_folder(folder):
        return [(words, block, figures.run_step(words)) for words, block in figures.tutorial_steps()]


def differences(shown: str, now: str, kernels: str) -> list[tuple[str, str]]:
    """Returns the pairs of lines that differ by more than the machine explains."""
    found = []
    for line, other in zip(shown.splitlines(), figures.refreshed(shown, now).splitlines(), strict=True):
        if OF_THE_WEIGHTS.search(line) or line.startswith(figures.OF_THE_BUILD):
            continue
        if OF_BRANCHES.match(line):
            before, after = ([float(n.replace(",", "")) for n in NUMBER.findall(text)] for text in (line, other))
            # Shares and instructions of a multiplication have as many digits as they have.
            if kernels != figures.KERNELS or after == pytest.approx(before, rel=0.02, abs=0.2):
                continue
        if line != other:
            found.append((line, other))
    return found


def test_commands_print_what_the_tutorial_shows(printed, folder):
    assert len(printed) == 7 and sum(block is not None for _, block, _ in printed) == 5
    kernels = next(
        line.partition("kernels ")[2].partition(";")[0]
        for _, _, text in printed
        for line in text.splitlines()
        if line.startswith("core ")
    )
    found = [pair for _, block, text in printed if block for pair in differences(block.text, text, kernels)]
    assert not found, REFRESH
    assert (folder / "out" / "digits.report.html").stat().st_size > 100_000


def test_a_number_that_was_not_printed_is_found():
    shown = "RAM\n  arena 2,560 bytes\ninstructions: 88,968 for init, 37,668 for an inference\n"
    for now, kernels, count in (
        ("RAM\n  arena 2,560 bytes\ninstructions: 88,900 for init, 37,700 for an inference\n", figures.KERNELS, 0),
        ("RAM\n  arena 2,561 bytes\ninstructions: 88,968 for init, 37,668 for an inference\n", figures.KERNELS, 1),
        ("RAM\n  arena 2,560 bytes\ninstructions: 88,968 for init, 39,668 for an inference\n", figures.KERNELS, 1),
        ("RAM\n  arena 2,560 bytes\ninstructions: 88,968 for init, 99,668 for an inference\n", "portable", 0),
    ):
        assert len(differences(shown, now, kernels)) == count, now
    with pytest.raises(ValueError, match="not printed: RAM"):
        differences(shown, "ROM\n", figures.KERNELS)


def test_the_model_object_for_m4_has_the_size_of_its_payload(folder, printed):
    """The build itself is compared in //tests/external:tutorial_test."""
    shown = figures.size_block().text
    with figures.in_folder(folder):
        assert figures.with_payload(shown, figures.payload_for_m4()) == shown, REFRESH


def test_the_firmware_compiles(folder, printed):
    (main,) = tried(TUTORIAL, "cpp")
    shutil.copytree(folder / "out", folder, dirs_exist_ok=True)
    assert not compile_cpp(main.text, folder.parent)
