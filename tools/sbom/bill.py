"""Bills of materials in SPDX 2.3, of firmware images and of the wheel.

They depend on nothing but what they describe: the time of creation is that of $SOURCE_DATE_EPOCH, or else 1970, and the
name of a document ends with the hash of its subject.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from packaging.metadata import Metadata
from packaging.utils import canonicalize_name
from spdx_tools.common.spdx_licensing import spdx_licensing
from spdx_tools.spdx.model import (
    Actor,
    ActorType,
    Checksum,
    ChecksumAlgorithm,
    CreationInfo,
    Document,
    ExternalPackageRef,
    ExternalPackageRefCategory,
    ExtractedLicensingInfo,
    Package,
    PackagePurpose,
    Relationship,
    RelationshipType,
    SpdxNoAssertion,
)
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
from spdx_tools.spdx.writer.write_anything import write_file

# Licences without an identifier of SPDX.
_OTHER_LICENCES = {
    "LicenseRef-newlib": "The licences in the file COPYING.NEWLIB of newlib's sources: permissive ones, most of them "
    "variants of the BSD licences. Distributions install the file with newlib.",
}
_IMAGE = "SPDXRef-image"
_WHEEL = "SPDXRef-wheel"


def of_image(name: str, elf: Path, size_report: Mapping[str, Any]) -> Document:
    """Returns the bill of materials of a firmware image.

    name: of the image.
    elf: the image itself.
    size_report: IMAGE.size.json, which is built beside it and has its `components`.
    """
    components = size_report["components"]
    packages = [_subject(_IMAGE, name, elf, PackagePurpose.FIRMWARE)]
    relationships = []
    for component in components:
        identifier = _identifier(component["name"])
        packages.append(
            Package(
                spdx_id=identifier,
                name=component["name"],
                version=component["version"] or None,
                download_location=_or_unknown(component["source"]),
                license_concluded=_licence(component["license"]),
                license_declared=_licence(component["license"]),
                files_analyzed=False,
                primary_package_purpose=PackagePurpose.LIBRARY,
            )
        )
        size = component["flash"]
        comment = f"{size} bytes of flash" if size else "compiled with its headers"
        relationships.append(Relationship(_IMAGE, RelationshipType.STATIC_LINK, identifier, comment))
    return _document(name, elf, _IMAGE, packages, relationships)


def of_wheel(wheel: Path) -> Document:
    """Returns the bill of materials of a wheel: itself, and what it requires, without what those require in turn.
    Licences of packages that are not installed here are not asserted."""
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(archive.read(name), validate=True)
    subject = _subject(
        _WHEEL, metadata.name, wheel, PackagePurpose.LIBRARY, _purl(metadata.name, str(metadata.version))
    )
    subject.version = str(metadata.version)
    subject.license_declared = _licence(metadata.license_expression or "NOASSERTION")
    packages, relationships = [subject], []
    for requirement in metadata.requires_dist or []:
        identifier = _identifier(requirement.name)
        if all(package.spdx_id != identifier for package in packages):
            packages.append(
                Package(
                    spdx_id=identifier,
                    name=requirement.name,
                    download_location=SpdxNoAssertion(),
                    license_declared=_licence(_installed_licence(requirement.name)),
                    files_analyzed=False,
                    external_references=[_purl(requirement.name)],
                )
            )
        # `extra` is the marker of what is only installed on request.
        if "extra" in str(requirement.marker or ""):
            ends = identifier, RelationshipType.OPTIONAL_DEPENDENCY_OF, _WHEEL
        else:
            ends = _WHEEL, RelationshipType.DEPENDS_ON, identifier
        relationships.append(Relationship(*ends, comment=str(requirement)))
    return _document(f"{metadata.name}-{metadata.version}", wheel, _WHEEL, packages, relationships)


def write(document: Document, path: Path) -> None:
    """Writes the document as JSON. ValueError if SPDX does not allow it."""
    problems = validate_full_spdx_document(document)
    if problems:
        raise ValueError("; ".join(problem.validation_message for problem in problems))
    write_file(document, str(path), validate=False)


def read_size_report(path: Path) -> Mapping[str, Any]:
    """Returns IMAGE.size.json. ValueError if it was written without the components."""
    report: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "components" not in report:
        raise ValueError(f"{path} does not say what the image consists of: build it again with this version's rules")
    return report


def _document(
    name: str, subject: Path, identifier: str, packages: Sequence[Package], relationships: Sequence[Relationship]
) -> Document:
    used = " ".join(str(package.license_declared) for package in packages)
    others = [
        ExtractedLicensingInfo(license_id=licence, extracted_text=words)
        for licence, words in _OTHER_LICENCES.items()
        if licence in used
    ]
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.UTC)
    return Document(
        CreationInfo(
            spdx_version="SPDX-2.3",
            spdx_id="SPDXRef-DOCUMENT",
            name=name,
            document_namespace=f"https://spdx.org/spdxdocs/{re.sub('[^A-Za-z0-9.]+', '-', name)}-{_sha256(subject)}",
            creators=[Actor(ActorType.TOOL, "cmsis_nn_delegate-sbom")],
            created=created.replace(tzinfo=None),
        ),
        packages=list(packages),
        relationships=[Relationship("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, identifier), *relationships],
        extracted_licensing_info=others,
    )


def _subject(
    identifier: str, name: str, path: Path, purpose: PackagePurpose, *references: ExternalPackageRef
) -> Package:
    return Package(
        spdx_id=identifier,
        name=name,
        file_name=path.name,
        download_location=SpdxNoAssertion(),
        checksums=[Checksum(ChecksumAlgorithm.SHA256, _sha256(path))],
        files_analyzed=False,
        primary_package_purpose=purpose,
        external_references=list(references),
    )


def _purl(name: str, version: str = "") -> ExternalPackageRef:
    locator = f"pkg:pypi/{canonicalize_name(name)}" + (f"@{version}" if version else "")
    return ExternalPackageRef(ExternalPackageRefCategory.PACKAGE_MANAGER, "purl", locator)


def _installed_licence(name: str) -> str:
    try:
        metadata = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return "NOASSERTION"
    # Older packages have free text, which need not be an identifier.
    stated = metadata.get("License-Expression") or metadata.get("License") or ""
    return stated if not spdx_licensing.validate(stated).errors and stated else "NOASSERTION"


def _licence(expression: str) -> Any:
    return SpdxNoAssertion() if expression == "NOASSERTION" else spdx_licensing.parse(expression)


def _or_unknown(text: str) -> str | SpdxNoAssertion:
    return SpdxNoAssertion() if text == "NOASSERTION" else text


def _identifier(name: str) -> str:
    return "SPDXRef-" + re.sub("[^A-Za-z0-9.]+", "-", name)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
