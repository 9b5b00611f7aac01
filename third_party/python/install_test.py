"""Tests install.py with wheels made here, without a package index."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

from third_party.python import install


def _wheel(folder, name, version, needs=()):
    """Creates an empty package; returns the hash of its wheel."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", metadata + "".join(f"Requires-Dist: {need}\n" for need in needs))
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An interpreter with pip, and a folder of wheels, the only source of packages for this pip."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    return str(tmp_path / "venv/bin/python"), wheels


def _installed(python):
    """Returns the installed packages except pip."""
    found = (path.name for path in pathlib.Path(install.packages_folder(python)).glob("*.dist-info"))
    return sorted(name[: -len(".dist-info")] for name in found if not name.startswith(("pip-", "setuptools-")))


def _lock(**pins):
    return "".join(f"{name}==1.0 \\\n    --hash=sha256:{hash_}\n" for name, hash_ in pins.items())


def test_hashes_and_builds_of_torch(environment):
    python, wheels = environment
    other = _wheel(wheels, "other", "1.0")
    gpu = _wheel(wheels, "torch", "1.0", needs=["gpu_library"])
    library = _wheel(wheels, "gpu_library", "1.0")

    # A file with another hash is refused.
    assert install.install_locked(python, _lock(other=library, torch=gpu)) != 0
    assert _installed(python) == []

    # A build for GPUs brings the libraries that it needs.
    assert install.install_locked(python, _lock(other=other, torch=gpu)) == 0
    assert _installed(python) == ["gpu_library-1.0", "other-1.0", "torch-1.0"]

    # If the index has a build for a CPU, pip takes it, although the other build has a hash too.
    shutil.rmtree(os.path.join(install.packages_folder(python), "torch-1.0.dist-info"))
    cpu = _wheel(wheels, "torch", "1.0+cpu")
    assert install.install_locked(python, _lock(other=other, torch=gpu)) != 0
    assert install.install_locked(python, _lock(other=other, torch=cpu)) == 0
    assert "torch-1.0+cpu" in _installed(python)
