"""The pack is valid by the public schema, and what it lists is enough to build the example's firmware."""

import json
import os
import re
import subprocess
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
import yaml
from referencing import Registry, Resource

from cmsis_nn_delegate.emit import c_header, kernel_table
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from tests.cmake.building import ROOT, kernel_sources, needs_arm
from tools.cmsis_pack import pack

EXAMPLE = ROOT / "examples/csolution"
SCHEMAS = {path.name: path for path in map(Path, os.environ.get("CMSIS_SCHEMAS", "").split())}
needs_schemas = pytest.mark.skipif(not SCHEMAS, reason=os.environ.get("NO_CMSIS_SCHEMAS") or "not run by Bazel")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    name, contents = pack.build(ROOT)
    pack.write(folder / name, contents)
    assert re.fullmatch(rf"{pack.VENDOR}\.{pack.NAME}\.\d+\.\d+\.\d+\.pack", name)
    with zipfile.ZipFile(folder / name) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture(scope="module")
def pdsc(unpacked):
    (path,) = unpacked.glob("*.pdsc")
    return path


@needs_schemas
def test_the_description_is_valid(pdsc):
    assert [str(e) for e in xmlschema.XMLSchema(SCHEMAS["PACK.xsd"]).iter_errors(pdsc)] == []
    broken = pdsc.read_text().replace("<vendor>", "<seller>").replace("</vendor>", "</seller>")
    assert [*xmlschema.XMLSchema(SCHEMAS["PACK.xsd"]).iter_errors(broken)]


@needs_schemas
@pytest.mark.parametrize("kind", ["csolution", "cproject"])
def test_the_project_files_are_valid(kind):
    schemas = {name: json.loads(path.read_text()) for name, path in SCHEMAS.items() if path.suffix == ".json"}
    registry = Registry().with_resources((name, Resource.from_contents(schema)) for name, schema in schemas.items())
    schema = schemas[f"{kind}.schema.json"]
    validator = jsonschema.validators.validator_for(schema)(schema, registry=registry)
    document = yaml.safe_load((EXAMPLE / f"infer.{kind}.yml").read_text())
    assert [error.message for error in validator.iter_errors(document)] == []
    assert not validator.is_valid({**document, "unknown": 1})


def test_the_description_lists_every_file_of_the_pack(unpacked, pdsc):
    listed = [file.get("name") for file in ElementTree.parse(pdsc).iter("file") if file.get("category") != "include"]
    assert len(listed) == len(set(listed)) > 80
    others = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()} - set(listed)
    assert {name for name in others if not name.startswith(f"{pack.EXECUTORCH}/")} == {"LICENSE", pdsc.name}
    licences = {licence.get("name") for licence in ElementTree.parse(pdsc).iter("license") if licence.get("name")}
    assert all((unpacked / name).is_file() for name in licences)


def test_the_example_names_components_of_the_pack(pdsc):
    of_pack = {
        f"{pack.VENDOR}::{c.get('Cclass')}:{c.get('Cgroup')}:{c.get('Csub')}"
        for c in ElementTree.parse(pdsc).iter("component")
    }
    project = yaml.safe_load((EXAMPLE / "infer.cproject.yml").read_text())["project"]
    used = {entry["component"] for entry in project["components"]}
    assert {name for name in used if name.startswith(pack.VENDOR)} == of_pack


@needs_arm
@pytest.mark.parametrize("core", ["cortex-m55"])  # it compiles the files for DSP too
def test_what_it_lists_builds_the_example(unpacked, pdsc, core, tmp_path):
    """With the compiler's own start-up code, so that the image is linked but not run. Of the kernels that the example
    does not call, which Bazel compiles, only the headers are looked for."""
    tree = ElementTree.parse(pdsc)
    folders = [unpacked / f.get("name") for f in tree.iter("file") if f.get("category") == "include"]
    sources = [unpacked / f.get("name") for f in tree.iter("file") if f.get("category", "").startswith("source")]
    (tmp_path / "global.h").write_text("".join(e.text for e in tree.iter("Pre_Include_Global_h")))
    payload = encode(networks.ds_cnn(), get_target(core), PayloadOptions.of(providers=["tuned", "portable"])).payload
    (tmp_path / "net.h").write_text(c_header.generate_header("net", payload))
    (tmp_path / "net.kernels.h").write_text(kernel_table.generate_kernel_table("net", payload))
    (tmp_path / "net.c").write_text(c_header.generate_source("net", payload))

    flags = [f"-mcpu={core}", "-mthumb", "-mfloat-abi=hard", "-Os", "-ffunction-sections", "-fdata-sections"]
    flags += ["-mfpu=fpv4-sp-d16"] if core == "cortex-m4" else []
    flags += [f"-I{folder}" for folder in (tmp_path, *folders)] + ["-include", str(tmp_path / "global.h")]

    def compiled(source):
        output = tmp_path / f"{zlib.crc32(bytes(source)):08x}_{source.name}.o"
        language = [] if source.suffix in (".c", ".S") else ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-w"]
        tool = "gcc" if source.suffix in (".c", ".S") else "g++"
        subprocess.run([f"arm-none-eabi-{tool}", *flags, *language, "-c", source, "-o", output], check=True)
        return output

    called = kernel_sources(payload)
    others = [s for s in sources if re.fullmatch(r"\w+_(portable|tuned)\.cc", s.name) and s.name not in called]
    assert len(others) > 200
    (tmp_path / "others.cc").write_text("".join(f'#include "{source}"\n' for source in others))
    subprocess.run(["arm-none-eabi-g++", *flags, "-M", "-MF", os.devnull, tmp_path / "others.cc"], check=True)
    with ThreadPoolExecutor(2) as pool:
        built = [source for source in sources if source not in others]
        objects = list(pool.map(compiled, [*built, EXAMPLE / "main.cc", tmp_path / "net.c"]))
    link = [*flags[:4], "--specs=nosys.specs", "--specs=nano.specs", "-Wl,--gc-sections,--no-warn-rwx-segments"]
    link += ["-mfpu=fpv4-sp-d16"] if core == "cortex-m4" else []
    subprocess.run(["arm-none-eabi-g++", *link, *objects, "-o", tmp_path / "image.elf"], check=True)
    symbols = subprocess.run(["arm-none-eabi-nm", tmp_path / "image.elf"], check=True, capture_output=True, text=True)
    assert "net_payload" in symbols.stdout and "cmsis_nn_delegate" in symbols.stdout
