"""Code in the documents works: Python runs, C++ compiles, and the quantizer reads its files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from code_blocks import LANGUAGES, ROOT, Block, blocks, compile_cpp, tried

from cmsis_nn_delegate import CmsisNnQuantizer, compile_model
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def cases(language: str) -> list[object]:
    found = [(path, block) for path in PAGES for block in tried(path, language)]
    assert found
    return [pytest.param(*case, id=f"{case[0].name}:{case[1].line}") for case in found]


@pytest.mark.parametrize("path", [path for path in PAGES if tried(path, "python")], ids=lambda path: path.name)
def test_python_runs(path, tmp_path, monkeypatch):
    """The blocks of a page one after the other, in one module and an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": path.stem}
    for block in tried(path, "python"):
        exec(compile(block.below_its_line(), path, "exec"), names)
    if path.name in ("README.md", "compiling.md"):
        assert [file.suffix for file in (tmp_path / "out").iterdir()].count(".pte") == 1


@pytest.mark.parametrize("path, block", cases("yaml"))
def test_the_quantizer_reads_its_file(path, block, tmp_path):
    file = tmp_path / "quantizer.yaml"
    file.write_text(block.text)
    assert CmsisNnQuantizer.from_file(file)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """All that the compiler writes for a model `net`: in `one` for one memory, with C++ calls; in `two` for two."""
    folder = tmp_path_factory.mktemp("net")
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten())
    samples = [(torch.rand(1, 1, 8, 8),) for _ in range(4)]
    two = [Memory("dtcm", 1 << 16), Memory("sram", 1 << 18)]
    for name, memories, emit in (("one", [], "cpp"), ("two", two, "payload")):
        compiled = compile_model(model, samples[0], "cortex-m55", samples, io="int8", name="net", memories=memories)
        compiled.write(folder / name, emit)
    return folder


@pytest.mark.parametrize("path, block", cases("cpp"))
def test_cpp_compiles(path: Path, block: Block, net):
    memories = "two" if "NET_REGION" in block.text else "one"
    assert not compile_cpp(f'#line {block.line} "{path.name}"\n{block.text}', net / memories)


def test_wrong_cpp_does_not_compile(net):
    assert "NET_NOTHING" in compile_cpp('#include "net.h"\nint x = NET_NOTHING;', net / "one")


def test_code_that_is_not_tried_says_so():
    """In the pages above; all code of the tutorial is tried by tutorial_test.py."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path not in PAGES and path.name != "tutorial.md"]
    unmarked = [
        f"{path.relative_to(ROOT)}:{block.line}"
        for path in pages
        for block in blocks(path)
        if block.language in LANGUAGES and block.options != "not-run"
    ]
    assert not unmarked, f"add `not-run` after the language, or the page to PAGES: {unmarked}"
