"""Builds the HTML of the documentation: `bazel build //docs:site`.

    build_site.py OUTPUT FILE=PATH...

Every FILE, a path in the repository, is read from PATH. Sphinx reads the files in a folder of their own, in which
README.md of the repository has become index.md, with the table of contents. A warning, such as one about a link that
leads nowhere, is an error. The variable PYTHON_DOCS names @python_docs//:lock.txt, which may be a link: the packages of
docs.lock are in the folder `packages` beside it, unless they are part of the environment.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path

import repository_links

_HERE = Path(__file__).parent
_RENAMED = {"README.md": "index.md"}
_CONTENTS = "docs/sphinx_site/contents.md"


def stage(files: dict[str, Path], folder: Path) -> None:
    """Copies the files of the site to `folder`, with the links that they have there."""
    for path, source in files.items():
        if path == _CONTENTS:
            continue
        target = folder / _RENAMED.get(path, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = source.read_bytes()
        if path.endswith(".md"):
            text = repository_links.rewrite(content.decode(), path, files, _RENAMED)
            if path == "README.md":
                text += "\n" + files[_CONTENTS].read_text(encoding="utf-8")
            content = text.encode()
        target.write_bytes(content)


def build(files: dict[str, Path], output: Path) -> int:
    """Returns Sphinx's exit code."""
    # Importing it warns about this machine. TORCH_LOGS does this for torch; Sphinx's own warnings count.
    logging.getLogger("torchao").setLevel(logging.ERROR)
    from sphinx.cmd.build import main as sphinx_build

    with tempfile.TemporaryDirectory() as folder:
        sources, trees = Path(folder, "sources"), Path(folder, "doctrees")
        stage(files, sources)
        options = ["-b", "html", "--fail-on-warning", "--quiet", "-c", str(_HERE), "-d", str(trees)]
        return sphinx_build([*options, str(sources), str(output)])


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    sys.path.insert(0, str(Path(os.environ["PYTHON_DOCS"]).resolve().parent / "packages"))
    sys.path.insert(0, str(_HERE))
    output, *named = arguments
    files = {path: Path(source) for path, _, source in (name.partition("=") for name in named)}
    return build(files, Path(output))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
