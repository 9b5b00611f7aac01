"""Bills of materials are valid SPDX, name everything that is linked, and do not change with the day."""

import hashlib
import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from spdx_tools.spdx.model import RelationshipType, SpdxNoAssertion
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from tools.sbom import bill, main

ELF = Path("runtime/cortex_m55.elf")
SIZES = ELF.with_suffix(".size.json")

METADATA = """Metadata-Version: 2.4
Name: net-tools
Version: 1.5
License-Expression: BSD-3-Clause
Requires-Dist: numpy>=2
Requires-Dist: not_installed_here==7
Requires-Dist: vl-convert-python>=1.9; extra == "page"
Provides-Extra: page

"""


def test_the_bill_of_an_image_names_all_that_is_linked():
    document = parse_file("tools/sbom/cortex_m55.spdx.json")
    assert validate_full_spdx_document(document) == []
    image, *components = document.packages
    assert image.name == "//runtime:cortex_m55"
    assert image.checksums[0].value == hashlib.sha256(ELF.read_bytes()).hexdigest()
    licences = {package.name: str(package.license_declared) for package in components}
    assert licences["cmsis_nn_delegate"] == "BSD-3-Clause"
    assert licences["GCC runtime libraries"] == "GPL-3.0-or-later WITH GCC-exception-3.1"
    assert licences["newlib"] == "LicenseRef-newlib"
    assert licences["ExecuTorch"] == "BSD-3-Clause"  # only its headers
    assert "firmware" not in licences, "everything in this image is from this repository or a known component"
    linked = {r.related_spdx_element_id for r in document.relationships if r.relationship_type.name == "STATIC_LINK"}
    assert linked == {package.spdx_id for package in components}


def test_the_flash_of_the_components_is_that_of_the_image():
    sizes = json.loads(SIZES.read_text())
    parts = sizes["flash"]["parts"]
    padding = parts.get("(padding)", {"total": 0})["total"]
    assert sum(item["flash"] for item in sizes["components"]) == sizes["flash"]["total"] - padding
    linked = [name for name in parts if name == "third_party/cmsis_nn"]
    (cmsis_nn,) = (item["flash"] for item in sizes["components"] if item["name"] == "CMSIS-NN") if linked else (0,)
    assert cmsis_nn == sum(parts[name]["total"] for name in linked)
    assert "\ncomponents " in ELF.with_suffix(".size").read_text()


def test_code_of_the_firmware_has_no_licence_that_we_know(tmp_path):
    (tmp_path / "app.elf").write_bytes(b"\x7fELF")
    item = {"name": "firmware", "license": "NOASSERTION", "version": "", "source": "NOASSERTION", "flash": 5}
    (tmp_path / "app.size.json").write_text(json.dumps({"components": [item]}))
    assert main.main(["image", str(tmp_path / "app.elf"), "-o", str(tmp_path / "app.spdx.json")]) == 0
    _, firmware = parse_file(str(tmp_path / "app.spdx.json")).packages
    assert isinstance(firmware.license_declared, SpdxNoAssertion) and firmware.version is None


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "net_tools-1.5-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("net_tools-1.5.dist-info/METADATA", METADATA)
    return path


def test_the_bill_of_a_wheel_has_its_requirements(wheel, tmp_path):
    output = tmp_path / "net.spdx.json"
    assert main.main(["wheel", str(wheel), "--output", str(output)]) == 0
    document = parse_file(str(output))
    subject, numpy, absent, page = document.packages
    assert (subject.name, subject.version, str(subject.license_declared)) == ("net-tools", "1.5", "BSD-3-Clause")
    assert subject.external_references[0].locator == "pkg:pypi/net-tools@1.5"
    assert [package.name for package in (numpy, absent, page)] == ["numpy", "not_installed_here", "vl-convert-python"]
    assert "BSD-3-Clause" in str(numpy.license_declared)
    assert isinstance(absent.license_declared, SpdxNoAssertion)
    kinds = {r.comment: r.relationship_type for r in document.relationships}
    assert kinds["numpy>=2"] is RelationshipType.DEPENDS_ON
    assert kinds['vl-convert-python>=1.9; extra == "page"'] is RelationshipType.OPTIONAL_DEPENDENCY_OF


def test_a_bill_changes_only_with_its_subject(wheel, tmp_path, monkeypatch):
    def written(name):
        bill.write(bill.of_wheel(wheel), tmp_path / f"{name}.spdx.json")
        return (tmp_path / f"{name}.spdx.json").read_bytes()

    first = written("a")
    assert first == written("b") and b"1970-01-01T00:00:00Z" in first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert b"2023-11-14T22:13:20Z" in written("c")


def test_a_size_report_without_components_is_refused(tmp_path, capsys):
    (tmp_path / "app.elf").write_bytes(b"\x7fELF")
    (tmp_path / "app.size.json").write_text("{}")
    assert main.main(["image", str(tmp_path / "app.elf"), "-o", str(tmp_path / "app.spdx.json")]) == 1
    assert "build it again" in capsys.readouterr().err
