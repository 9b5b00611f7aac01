"""The runtime as a CMSIS-Pack: a .pack archive and its description, a .pdsc file.

    bazel run //:cmsis_pack -- FOLDER        # for CmsisNnDelegate.cmsis_nn_delegate.0.1.0.pack

The BUILD files say which files the components have: Bazel writes files.json beside this program. The pack also
contains the headers of ExecuTorch that they include, and no kernels of CMSIS-NN: the releases of ARM::CMSIS-NN have
other revisions than the one that payloads are compiled for.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from cmsis_nn_delegate import __version__

VENDOR, NAME = "CmsisNnDelegate", "cmsis_nn_delegate"
SCHEMA = "1.7.36"  # of PACK.xsd: the first version of which everything below is a part
EXECUTORCH = "third_party/executorch"  # its headers in the pack
INCLUDES = (".", EXECUTORCH, f"{EXECUTORCH}/executorch/runtime/core/portable_type/c10")
# The second one because only a build of PyTorch generates the header that c10 would include otherwise.
_DEFINITIONS = "#define ET_LOG_ENABLED 0\n#define C10_USING_CUSTOM_GENERATED_MACROS\n"
_URL = "https://localhost/"  # nowhere yet: pass --url
_CLASS, _GROUP = "Machine Learning", "CMSIS-NN delegate"


@dataclass(frozen=True)
class Component:
    """`sub` is its name in files.json."""

    sub: str
    description: str
    needs: tuple[str, ...] = ()  # other components


COMPONENTS = (
    Component("Runtime", "Runs payloads without ExecuTorch's executor"),
    Component("Portable kernels", "Every kernel in plain C++, for any core", ("Runtime",)),
    Component(
        "Tuned kernels",
        "Fast kernels for cores with DSP instructions or MVE; a payload names those that it calls",
        ("Runtime", "Portable kernels"),
    ),
)


def files_of_components() -> dict[str, list[str]]:
    """Returns the files of each component, by its `sub`; each file is in one."""
    found: dict[str, list[str]] = json.loads(Path(__file__).with_name("files.json").read_text(encoding="utf-8"))
    return found


def included(sources: Iterable[Path], folders: Sequence[Path]) -> list[Path]:
    """Returns the files in `folders` that `sources` include, directly or through each other. Whether a condition of the
    preprocessor leaves them out is not looked at."""
    found: dict[Path, None] = {}
    waiting = list(sources)
    while waiting:
        source = waiting.pop()
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', source.read_text(encoding="utf-8"), re.MULTILINE):
            for folder in (source.parent, *folders):
                path = folder / name
                if path.is_file() and any(path.is_relative_to(known) for known in folders) and path not in found:
                    found[path] = None
                    waiting.append(path)
                    break
    return sorted(found)


def description(version: str, url: str, files: Mapping[str, Sequence[str]]) -> bytes:
    """Returns the .pdsc. `files` are those of each component, by its `sub`."""
    package = ElementTree.Element("package", {"schemaVersion": SCHEMA})
    package.set("xmlns:xs", "http://www.w3.org/2001/XMLSchema-instance")
    package.set("xs:noNamespaceSchemaLocation", "PACK.xsd")

    def add(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
        element = ElementTree.SubElement(parent, tag, attributes)
        element.text = text or None
        return element

    add(package, "vendor", VENDOR)
    add(package, "name", NAME)
    add(package, "description", "Runs quantized PyTorch models on Arm Cortex-M")
    add(package, "url", url)
    add(package, "license", "LICENSE")
    licences = add(add(package, "licenseSets"), "licenseSet", id="all", default="true", gating="true")
    add(licences, "license", name="LICENSE", title="cmsis_nn_delegate", spdx="BSD-3-Clause")
    add(licences, "license", name=f"{EXECUTORCH}/LICENSE", title="Headers of ExecuTorch", spdx="BSD-3-Clause")
    add(add(add(package, "requirements"), "languages"), "language", name="C++", version="17")
    add(add(package, "releases"), "release", "See CHANGELOG.md of the project.", version=version)
    add(add(package, "taxonomy"), "description", "Inference of neural networks", Cclass=_CLASS)
    conditions = add(package, "conditions")
    compiler = add(conditions, "condition", id="Compiler")
    add(compiler, "accept", Tcompiler="GCC")
    add(compiler, "accept", Tcompiler="CLANG")
    for component in COMPONENTS:
        condition = add(conditions, "condition", id=component.sub)
        add(condition, "require", condition="Compiler")
        for needed in component.needs:
            add(condition, "require", Cclass=_CLASS, Cgroup=_GROUP, Csub=needed)
    components = add(package, "components")
    for component in COMPONENTS:
        element = add(
            components,
            "component",
            Cclass=_CLASS,
            Cgroup=_GROUP,
            Csub=component.sub,
            Cversion=version,
            condition=component.sub,
        )
        add(element, "description", component.description)
        if component is COMPONENTS[0]:
            add(element, "Pre_Include_Global_h", _DEFINITIONS)
        listed = add(element, "files")
        if component is COMPONENTS[0]:
            for folder in INCLUDES:
                add(listed, "file", category="include", name=f"{folder}/")
        for file in files[component.sub]:
            category = {".h": "header", ".c": "sourceC", ".cc": "sourceCpp", ".S": "sourceAsm"}[Path(file).suffix]
            add(listed, "file", category=category, name=file)
    ElementTree.indent(package)
    return ElementTree.tostring(package, encoding="utf-8", xml_declaration=True) + b"\n"


def write(output: Path, contents: Mapping[str, bytes]) -> None:
    """Writes an archive that is the same on each day."""
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(contents.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)


def build(root: Path, url: str = _URL) -> tuple[str, dict[str, bytes]]:
    """Returns the name of the archive and its contents, made of the sources in `root` and the installed ExecuTorch."""
    files = files_of_components()
    ours = [file for listed in files.values() for file in listed]
    executorch = Path(sysconfig.get_paths()["purelib"]) / "executorch/include"
    folders = [executorch, executorch / "executorch/runtime/core/portable_type/c10"]
    contents = {name: (root / name).read_bytes() for name in ["LICENSE", *ours]}
    for header in included([root / file for file in ours], folders):
        contents[f"{EXECUTORCH}/{header.relative_to(executorch).as_posix()}"] = header.read_bytes()
    (licence,) = (f for f in importlib.metadata.files("executorch") or () if f.match("*.dist-info/licenses/LICENSE"))
    contents[f"{EXECUTORCH}/LICENSE"] = Path(str(licence.locate())).read_bytes()
    contents[f"{VENDOR}.{NAME}.pdsc"] = description(__version__, url, files)
    return f"{VENDOR}.{NAME}.{__version__}.pack", contents


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="cmsis_pack", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="for the pack, and the .pdsc beside it")
    parser.add_argument("--url", default=_URL, help="where the packs of the vendor are found")
    args = parser.parse_args(argv)
    # `bazel run` starts elsewhere.
    folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), args.folder)
    name, contents = build(Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")), args.url)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / name, contents)
    pdsc = f"{VENDOR}.{NAME}.pdsc"
    (folder / pdsc).write_bytes(contents[pdsc])
    print(f"Written\n  {folder / name}\n  {folder / pdsc}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
