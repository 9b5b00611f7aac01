"""Writes the hashes of all files that pip may choose into a lock file.

    VENV/bin/python hash_lock.py requirements.lock [WHEEL ...]

Keeps the lock's packages, versions, conditions and comments. The package index (PIP_INDEX_URL, or pip's default) states
the hashes: of the wheels for Python 3.11 and later on Linux and macOS, and of the sources if a package has no such
wheel. The program adds the hashes of the WHEELs: files of another index, such as a CPU build of PyTorch.
"""

import hashlib
import json
import os
import pathlib
import re
import sys
import urllib.request

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pip._internal.models.index import PyPI

OLDEST = (3, 11)


def fits(wheel):
    """Returns whether pip may choose a wheel with this name on a supported machine."""
    for tag in parse_wheel_filename(wheel)[3]:
        python = re.fullmatch(r"(py|cp)(\d)(\d*)", tag.interpreter)
        if python is None or int(python[2]) < 3:
            continue
        version = (int(python[2]), int(python[3] or 0))
        fixed = tag.interpreter.startswith("cp") and tag.abi != "abi3"  # only for this version of Python
        threads = tag.abi.endswith("t") and tag.abi.startswith("cp")
        system = tag.platform == "any" or tag.platform.startswith(("manylinux", "linux", "macosx"))
        machine = tag.platform == "any" or tag.platform.endswith(("x86_64", "aarch64", "arm64", "universal2"))
        if system and machine and not threads and (version >= OLDEST or not fixed):
            return True
    return False


def files_of(name):
    """Returns the index's files of a package: [{"filename": ..., "hashes": {"sha256": ...}}]."""
    index = os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")
    request = urllib.request.Request(
        f"{index}/{canonicalize_name(name)}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["files"]


def version_of(filename):
    if filename.endswith(".whl"):
        return parse_wheel_filename(filename)[1]
    return Version(re.sub(r"\.(tar\.gz|zip)$", "", filename).rsplit("-", 1)[1])


def hashes_of(name, version, wheels):
    found = {}
    for file in files_of(name):
        filename = file["filename"]
        if filename.endswith((".whl", ".tar.gz", ".zip")) and f"-{version}" in filename.replace("_", "-"):
            if version_of(filename) == version:
                found[filename] = file["hashes"]["sha256"]
    chosen = {hash_ for filename, hash_ in found.items() if filename.endswith(".whl") and fits(filename)}
    if not chosen:
        chosen = {hash_ for filename, hash_ in found.items() if not filename.endswith(".whl")}
    for path in wheels:
        wheel_name, wheel_version, *_ = parse_wheel_filename(path.name)
        if wheel_name == canonicalize_name(name) and Version(wheel_version.public) == version:
            chosen.add(hashlib.sha256(path.read_bytes()).hexdigest())
    if not chosen:
        sys.exit(f"the index has no file of {name} {version}")
    return sorted(chosen)


def main(lock, *wheels):
    path = pathlib.Path(lock)
    text = re.sub(r" \\\n +--hash=\S+", "", path.read_text(encoding="utf-8"))
    lines = []
    for line in text.splitlines():
        pin = re.match(r"([A-Za-z0-9._-]+)==([^ ;]+)", line)
        if pin:
            hashes = hashes_of(pin[1], Version(pin[2]), [pathlib.Path(wheel) for wheel in wheels])
            line = " \\\n".join([line, *(f"    --hash=sha256:{hash_}" for hash_ in hashes)])
        lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
