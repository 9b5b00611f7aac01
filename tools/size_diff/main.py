"""Shows what firmware images take more or less than at another revision, by part and object.

    bazel run //:size_diff -- --base=main
    bazel run //:size_diff -- --base=v0.1.0 --format=markdown //examples/firmware:cortex_m4

Builds the images of the working tree and those of the revision, in a working tree of its own that is kept for the next
time, and compares the sizes that are built beside them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from cmsis_nn_delegate import UserError
from cmsis_nn_delegate.report import difference

IMAGES = ("//runtime:cortex_m4", "//runtime:cortex_m55", "//examples/firmware:cortex_m4")
_LOCK = Path("third_party/python/requirements.lock")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bazel run //:size_diff --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--base", required=True, metavar="REVISION", help="what to compare with, a branch for example")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default text")
    parser.add_argument("images", nargs="*", default=IMAGES, metavar="IMAGE", help=f"default: {' '.join(IMAGES)}")
    options = parser.parse_args(arguments)
    # `bazel run` starts programs in another folder.
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    try:
        print(size_diff(root, options.base, options.images, options.format), end="")
    except UserError as error:
        print(f"size_diff: error: {error}", file=sys.stderr)
        return 1
    return 0


def size_diff(root: Path, base: str, images: Sequence[str], form: str) -> str:
    """Returns the differences as text of the format `form`. UserError if the revision does not exist, or if images
    cannot be built."""
    paths = {image: _path_of(image) for image in images}
    _say(f"preparing {base}")
    before = _worktree(root, base)
    environment = dict(os.environ)
    if _same(root / _LOCK, before / _LOCK):
        # This program's own environment: to install it again takes minutes.
        environment.setdefault("CND_PYTHON_ENV", sys.prefix)
    old = _sizes(before, paths, environment, f"at {base}", _existing(before, images))
    new = _sizes(root, paths, environment, "of the working tree", images)
    found = {
        image: difference.compare(old[image], text, (f"{image} at {base}", image))
        for image, text in new.items()
        if image in old
    }
    if form == "json":
        documents = {image: json.loads(found[image].to_json()) if image in found else None for image in new}
        return json.dumps({"schema": 1, "base": base, "images": documents}, indent=2) + "\n"
    render = difference.render_markdown if form == "markdown" else difference.render
    heading = "### {}\n\n" if form == "markdown" else "{}\n"
    parts = [
        heading.format(image) + (render(found[image]) if image in found else f"there is no such image at {base}\n")
        for image in new
    ]
    return "\n".join(parts)


def _path_of(image: str) -> Path:
    """Returns where the sizes of an image are, from Bazel's folder of results on."""
    package, _, name = image.removeprefix("//").partition(":")
    if not image.startswith("//") or not name:
        raise UserError(f"{image} is no label of an image: write //FOLDER:NAME")
    return Path(package) / f"{name}.size.json"


def _worktree(root: Path, revision: str) -> Path:
    """Returns a working tree of `revision`."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise UserError(f"there is no revision {revision!r} here; perhaps `git fetch` brings it")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    # Bazel keeps results by the folder, so that the next comparison builds only what differs.
    folder = cache / "cmsis_nn_delegate" / f"size_diff-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]}"
    if (folder / ".git").exists() and _git(folder, "checkout", "--quiet", "--force", "--detach", commit) is not None:
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    _git(root, "worktree", "prune")
    if _git(root, "worktree", "add", "--quiet", "--force", "--detach", str(folder), commit) is None:
        raise UserError(f"git cannot make a working tree in {folder}: remove what is there")
    return folder


def _git(folder: Path, *arguments: str) -> Optional[str]:
    """Returns what git prints, None if it fails."""
    done = subprocess.run(["git", "-C", folder, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


def _existing(folder: Path, images: Sequence[str]) -> list[str]:
    """Returns the images in whose folders something is built. A new one may be missing at another revision."""
    return [image for image in images if (folder / _path_of(image).parent / "BUILD").is_file()]


def _sizes(
    folder: Path, paths: Mapping[str, Path], environment: Mapping[str, str], which: str, images: Sequence[str]
) -> dict[str, str]:
    """Builds `images` in `folder`, and returns the documents with their sizes."""
    if not images:
        return {}
    _say(f"building the images {which}")
    _bazel(folder, environment, "build", "--noshow_progress", *images)
    results = Path(_bazel(folder, environment, "info", "bazel-bin", output=True))
    try:
        return {image: (results / paths[image]).read_text(encoding="utf-8") for image in images}
    except OSError as error:
        raise UserError(f"{error.filename} was not built: only targets of the rule firmware() have sizes") from error


def _bazel(folder: Path, environment: Mapping[str, str], *arguments: str, output: bool = False) -> str:
    options: dict[str, Any] = {"stdout": subprocess.PIPE if output else sys.stderr, "text": True, "check": False}
    done = subprocess.run([folder / "bazelw", *arguments], cwd=folder, env=environment, **options)
    if done.returncode:
        raise UserError(f"`./bazelw {' '.join(arguments)}` failed in {folder}")
    return (done.stdout or "").strip()


def _say(line: str) -> None:
    print(f"size_diff: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
