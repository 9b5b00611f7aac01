"""The wheel has all that `cmsisnn` needs: it is built, installed alone, and compiles a model."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tomllib
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from packaging.metadata import Metadata

SOURCES = Path("aot").resolve()

MODEL = """
import torch

def net():
    layers = torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 6 * 6, 10)
    return torch.nn.Sequential(*layers), (torch.rand(1, 1, 8, 8),)
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # setuptools writes beside the sources.
    shutil.copytree(SOURCES, folder / "aot", ignore=shutil.ignore_patterns("__pycache__", "*_test.py"))
    pip = sys.executable, "-m", "pip", "--disable-pip-version-check"
    run(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, folder / "aot")
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Returns a folder with the wheel, and the environment that finds it there and what it requires among the locked
    packages."""
    folder = tmp_path_factory.mktemp("installed")
    pip = sys.executable, "-m", "pip", "--disable-pip-version-check"
    run(*pip, "install", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder, {**os.environ, "PYTHONPATH": str(folder)}


def test_metadata(wheel):
    project = tomllib.loads((SOURCES / "pyproject.toml").read_text())["project"]
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(archive.read(name), validate=True)
        (licence,) = (name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
        assert b"Redistribution and use" in archive.read(licence)
        assert not any("testing" in Path(name).parts or name.endswith("_test.py") for name in archive.namelist())
        description = BytesParser().parsebytes(archive.read(name)).get_payload()
    assert (metadata.name, str(metadata.version)) == (project["name"], project["version"])
    assert metadata.license_expression == "BSD-3-Clause"
    assert metadata.description_content_type == "text/markdown" and "cmsisnn compile" in description
    assert "](" not in description.replace("](http", ""), "the page of the package cannot follow links into the tree"
    assert {requirement.name for requirement in metadata.requires_dist} >= {"torch", "torchao", "executorch"}


def test_the_package_index_accepts_it(wheel):
    printed = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", wheel)
    assert printed.rstrip().endswith("PASSED")


def test_what_is_installed_here_is_within_the_ranges(wheel):
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(archive.read(name), validate=True)
    for requirement in metadata.requires_dist:
        installed = importlib.metadata.version(requirement.name)
        assert requirement.specifier.contains(installed, prereleases=True), (str(requirement), installed)
        assert any(spec.operator == ">=" for spec in requirement.specifier), str(requirement)


def test_the_program_compiles_a_model(installed, tmp_path):
    folder, environment = installed
    where = run(sys.executable, "-c", "import cmsis_nn_delegate as d; print(d.__file__)", env=environment, cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(folder)
    (tmp_path / "net.py").write_text(MODEL)
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(0).random((8, 1, 8, 8), dtype=np.float32))
    program = [sys.executable, folder / "bin" / "cmsisnn"]
    arguments = "compile net.py:net --target cortex-m4 --calibration data.npz --io int8 --html -o out".split()
    printed = run(*program, *arguments, env=environment, cwd=tmp_path)
    assert "instructions" in printed
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"net.pte", "net.c", "net.h", "net.kernels.h", "net.payload.bin", "net.report.html"} <= names
    printed = run(*program, *"run out/net --inputs data.npz --on reference".split(), env=environment, cwd=tmp_path)
    assert "output0: int8[8, 10]" in printed
