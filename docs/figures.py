"""The figures in documents that come from output of our programs: `bazel run //docs:figures` writes them anew.

A block of output in a document is an excerpt: some lines, in order. What changes in them are numbers, so that a line of
the document is found in the output by its text without numbers; `refreshed` puts the printed line in its place. Tests
compare with the same function. figures.json says which test compares a figure, or why none can.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from code_blocks import ROOT, Block, blocks, tried, tutorial_file

TUTORIAL = Path("docs/tutorial.md")
README = Path("README.md")
SIZES = Path("docs/sizes.md")
# `bazel run` starts programs in another folder.
ROOT_OF_USER = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ROOT))
# With these kernels the documents' instructions, and all sizes of images, were measured.
KERNELS = "tuned+cmsis-nn"
# Where Bazel puts the images of the simulated device.
IMAGES = Path(__file__).parents[1] / "runtime"


def key(line: str) -> str:
    """Returns a line without its numbers, but with those of lines in files, which follow from the document."""
    line = re.sub(r"(\.py:\d+)|[-+]?\d[\d,.]*", lambda number: number[1] or "0", re.sub(r"\s+", " ", line.strip()))
    return re.sub(r"#+", "#", line)


# Beginnings of lines that name the kernels and the simulator of a build.
OF_THE_BUILD = ("core ", "device ")


def refreshed(shown: str, printed: str) -> str:
    """Returns the lines of an excerpt as they were printed now; those of the build stay. ValueError names a line that
    was not printed."""
    rest = printed.splitlines()
    found = []
    for line in shown.splitlines():
        match = next((other for other in rest if line.strip() and key(other) == key(line)), None)
        if match is None and line.strip() and not line.startswith(OF_THE_BUILD):
            raise ValueError(f"not printed: {line}")
        if match is not None:
            rest = rest[rest.index(match) + 1 :]
        # Columns may be excerpts too: the document's own indentation stays.
        indent = line[: len(line) - len(line.lstrip())]
        found.append(indent + match.strip() if match is not None else line)
    return "\n".join(found) + "\n"


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """As a reader who has changed into `folder`, which Python imports from."""
    before = os.getcwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        os.chdir(before)


def train_tutorial(folder: Path) -> None:
    """Does the first step of the tutorial in an empty folder."""
    for block in tried(ROOT / TUTORIAL, "python"):
        (folder / tutorial_file(block)).write_text(block.text, encoding="utf-8")
    with in_folder(folder):
        runpy.run_path("train.py")
        # Another run may train other weights.
        sys.modules.pop("net", None)


def tutorial_steps() -> list[tuple[list[str], Block | None]]:
    """Returns the commands of cmsisnn, without its name, each with the block of output that the tutorial shows."""
    found: list[tuple[list[str], Block | None]] = []
    after_commands = False
    for block in blocks(ROOT / TUTORIAL):
        commands = re.findall(r"^cmsisnn (.*)$", block.text, re.MULTILINE)
        if commands:
            found += [(shlex.split(command), None) for command in commands]
        elif after_commands and block.language == "":
            found[-1] = (found[-1][0], block)
        after_commands = bool(commands)
    return found


def run_step(words: list[str], images: Path = IMAGES) -> str:
    """Runs a command of the tutorial in the current folder and returns what it prints. RuntimeError if it fails."""
    from cmsis_nn_delegate import cli

    words, target = (words[: words.index(">")], words[-1]) if ">" in words else (words, "")
    image = "cortex_m55_profile.elf" if words[0] == "profile" else "cortex_m55.elf"
    image_options = ["--image", str(images / image)] if words[0] == "profile" or "simulator" in words else []
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = cli.main([*words, *image_options])
    if code != 0:
        raise RuntimeError(f"cmsisnn {shlex.join(words)} ended with {code}: {printed.getvalue()}")
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
    return printed.getvalue()


def size_block() -> Block:
    """Returns the tutorial's block of the firmware's size."""
    (found,) = (block for block in blocks(ROOT / TUTORIAL) if block.text.startswith("flash by part"))
    return found


def with_payload(shown: str, payload: int) -> str:
    """Returns the block of the firmware's size with a model of `payload` bytes."""
    (before,) = re.findall(r"digits\.o +([\d,]+)$", shown, re.MULTILINE)
    grown = payload - number(before)

    def add(line: str, columns: tuple[int, ...]) -> str:
        cells = list(re.finditer(r"[\d,]+", line))
        for cell in (cells[column] for column in columns):
            new = f"{number(cell[0]) + grown:,}".rjust(len(cell[0]))
            line = line[: cell.start()] + new + line[cell.end() :]
        return line

    lines = shown.splitlines()
    return "\n".join([lines[0], add(lines[1], (1, 3)), add(lines[2], (0,)), *lines[3:]]) + "\n"


def number(text: str) -> int:
    return int(text.replace(",", ""))


def write(path: Path, text: str) -> None:
    """Writes a document if it changes, and says so."""
    if (ROOT_OF_USER / path).read_text(encoding="utf-8") != text:
        (ROOT_OF_USER / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def write_tutorial() -> None:
    """Does what the tutorial says and writes what it printed."""
    text = (ROOT_OF_USER / TUTORIAL).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        train_tutorial(Path(folder))
        with in_folder(Path(folder)):
            for words, block in tutorial_steps():
                print("cmsisnn", shlex.join(words), flush=True)
                printed = run_step(words)
                if block is not None:
                    text = text.replace(block.text, refreshed(block.text, printed))
            block = size_block()
            text = text.replace(block.text, with_payload(block.text, payload_for_m4()))
    write(TUTORIAL, text)


def payload_for_m4() -> int:
    """Returns the bytes of the tutorial's payload for M4, as its build compiles it, in the folder of the tutorial."""
    words = next(words for words, _ in tutorial_steps() if words[0] == "compile")
    run_step([{"cortex-m55": "cortex-m4", "out": "m4"}.get(word, word) for word in words])
    return Path("m4/digits.payload.bin").stat().st_size


def demo_block() -> Block:
    """Returns README's block with the results of the demo."""
    (found,) = (block for block in blocks(ROOT / README) if "accuracy of the float network" in block.text)
    return found


def run_demo(folder: Path) -> str:
    """Returns what the demo prints."""
    from examples.digits import demo

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = demo.main(["--output", str(folder)])
    if code != 0:
        raise RuntimeError(f"the demo ended with {code}: {printed.getvalue()}")
    return printed.getvalue()


def write_readme() -> None:
    """Runs the demo and writes its results, and the table of networks as docs/benchmarks.json has it."""
    from benchmarks import documents

    text = (ROOT_OF_USER / README).read_text(encoding="utf-8")
    print("the demo", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        block = demo_block()
        text = text.replace(block.text, refreshed(block.text, run_demo(Path(folder))))
    results = (ROOT_OF_USER / "docs/benchmarks.json").read_text(encoding="utf-8")
    write(README, documents.with_table(text, documents.measured(results)))


def write_sizes() -> None:
    """Measures the images of docs/sizes.md. Rows of images that could not be built stay as they are."""
    from tests.forms import sizes

    text = (ROOT_OF_USER / SIZES).read_text(encoding="utf-8")
    for line in re.findall(r"^\| \w+ \| M\d+ \| (?:payload|cpp) \|.*$", text, re.MULTILINE):
        network, core, form, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        try:
            text = text.replace(line, sizes.row(sizes.measure(network, f"cortex-{core.lower()}", form)))
        except sizes.SizeError as error:
            print(f"{network} {core} {form}: {error}")
    write(SIZES, text)


def main() -> None:
    from cmsis_nn_delegate.support.quiet import quiet

    quiet()
    write_tutorial()
    write_readme()
    write_sizes()


if __name__ == "__main__":
    main()
