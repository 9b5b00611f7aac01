"""The result of `compile_model`: a model with everything that is deployed. Needs no PyTorch."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Union

from .emit import c_header, cpp_calls, cpp_sources, kernel_table
from .files import serialize
from .files.artifacts import CPP_SUFFIXES, EMITS, PAGE_SUFFIX, PARTS_SUFFIX, about_program
from .files.outputs import write_files
from .graph.ir import Graph
from .payload.decode import decode
from .payload.encode import Encoded
from .report import explanation, parts_report, text
from .report.budget import Budget
from .report.delegated_work import Work
from .report.explanation import Placement
from .report.image_sizes import read_image
from .report.model_report import Report, build_report
from .report.node_report import NodeReport
from .report.page.outputs import read as read_outputs
from .report.page.parts import render_parts
from .report.page.render import render
from .report.stream_report import StreamReport
from .support.checked import checked
from .support.errors import UserError
from .targets.target import Target

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_KERNELS_SUFFIX = ".kernels.h"
# The files that `Compiled.write` writes besides NAME.pte if the whole model is one delegate call.
_STANDALONE_SUFFIXES = (".payload.bin", ".h", _KERNELS_SUFFIX, ".c", ".graph.npz", ".report.txt", ".report.json")

_ETRECORD_SUFFIX = ".etrecord"


@dataclass(frozen=True)
class Compiled:
    """A compiled model.

    `pte` always runs under ExecuTorch with the delegate's library. `parts` has the payload of each delegate call, with
    its plan, in execution order. `encoded`, the only one, exists if the whole model became one delegate call;
    `obstacle` says what prevented that. `reports` has the decision about every node, and
    `work` says how much of an inference is delegated.
    """

    name: str
    target: Target
    io: str
    pte: bytes
    program: ExportedProgram  # quantized, float inputs and outputs, before lowering
    reports: tuple[NodeReport, ...]
    work: Work
    quantizer: str  # the preset and overrides
    # The calls of the delegate, by the names of the edge nodes that they compute.
    placements: Mapping[str, Placement]
    parts: tuple[Encoded, ...]
    obstacle: str  # "" if the whole model is one delegate call
    # One sentence each: about ranges in the calibration data, and about what prevents the program from being loaded.
    warnings: tuple[str, ...] = ()
    # Why the calibration data looks useless as a whole, or that the model loses much by quantization on this data; ""
    # if neither is so.
    calibration_doubt: str = ""
    # What a streaming model saves, and which columns its outputs are; None for another one.
    stream: Optional[StreamReport] = None
    # For ExecuTorch's Inspector, if it was asked for.
    etrecord: Optional[bytes] = None

    @property
    def encoded(self) -> Optional[Encoded]:
        return None if self.obstacle else self.parts[0]

    @property
    def payload(self) -> Optional[bytes]:
        return None if self.encoded is None else self.encoded.payload

    @property
    def graph(self) -> Optional[Graph]:
        return None if self.encoded is None else self.encoded.graph

    @property
    def report(self) -> Optional[Report]:
        return None if self.obstacle else self.part_reports[0]

    @property
    def part_reports(self) -> list[Report]:
        """Returns a report of each part."""
        return [
            build_report(self.name, part, self.quantizer, self.modules, self.lines, self.stream) for part in self.parts
        ]

    @property
    def parts_document(self) -> parts_report.Document:
        """Returns the content of NAME.parts.json as data."""
        return parts_report.document(self)

    @checked()
    def page(self, image: Union[str, Path, None] = None, outputs: Union[str, Path, None] = None) -> str:
        """Returns the report as a web page, HTML in one file that loads nothing. `image`, the IMAGE.size.json of a
        firmware, adds its flash; `outputs`, the .npz of `cmsisnn run -o`, what the model returned over time. UserError
        if nothing is delegated, for outputs of a model that is not one delegate call, or if the package with the
        scripts of its charts is missing."""
        firmware = None if image is None else read_image(image)
        if self.report is not None:
            report = json.loads(self.report.to_json())
            return render(report, firmware=firmware, outputs=() if outputs is None else read_outputs(outputs, report))
        if outputs is not None:
            raise UserError(f"only a model that is one delegate call shows outputs over time: {self.obstacle}")
        if not self.parts:
            raise UserError(f"there is no page, because nothing of the model is delegated: {self.obstacle}")
        return render_parts(self.parts_document, firmware=firmware)

    @checked()
    def require(self, budget: Budget) -> None:
        """UserError if the model exceeds `budget`: its delegate calls together, without what runs outside of them; or
        if nothing is delegated, so that a limit would hold whatever the model takes."""
        if budget == Budget():
            return
        if not self.parts:
            raise UserError(
                f"nothing of {self.name} is delegated, so it is not known what it takes: {self.obstacle}; compile it "
                "without a budget",
                exit_code=1,
            )
        budget.require(*self.part_reports, whole=not self.obstacle)

    @property
    def refused(self) -> list[NodeReport]:
        """Returns the nodes that stay outside of the delegate, with reasons."""
        return [report for report in self.reports if not report.delegated]

    @property
    def modules(self) -> dict[str, str]:
        """Returns the user's module by the name of each delegated edge node that has one, in execution order:
        "layers.0 (Conv2d)"."""
        return explanation.modules_of(self.reports)

    @property
    def lines(self) -> dict[str, str]:
        """Returns the line of the user's code by the name of each delegated edge node that has one, in execution order:
        "model.py:12"."""
        return {report.name: str(report.source) for report in self.reports if report.delegated and report.source}

    @checked()
    def files(self, emit: str = "payload", page: bool = False) -> dict[str, bytes]:
        """Returns name -> content of every file to write. With `emit` "cpp" also the calls as C++, NAME.model.h and
        NAME.model.cc, with lists of the files that they need. UserError if there is no payload to make these of. With
        `page` also NAME.report.html, unless nothing is delegated."""
        if emit not in EMITS:
            raise UserError(f"emit {emit!r} is none of {', '.join(EMITS)}")
        if emit == "cpp" and self.encoded is None:
            raise UserError(
                f"{self.name} cannot be written as C++, because it is not delegated as a whole: {self.obstacle}",
                exit_code=1,
            )
        if (
            emit == "cpp"
            and self.encoded is not None
            and (self.encoded.plan.region_bytes or self.encoded.copies.nbytes)
        ):
            raise UserError(
                f"{self.name} cannot be written as C++, which has one arena, and no init() that copies weights: give "
                "one --memory that holds no weights, or none"
            )
        files = {f"{self.name}.pte": self.pte}
        if self.etrecord is not None:
            files[self.name + _ETRECORD_SUFFIX] = self.etrecord
        report = self.report
        if self.encoded is not None and report is not None:
            payload = self.encoded.payload
            about = {
                "name": self.name,
                "target": self.target.name,
                **self.encoded.options.to_texts(),
                "quantizer": self.quantizer,
                "modules": json.dumps(self.modules),
                "lines": json.dumps(self.lines),
                **about_program(decode(payload).crc32, self.pte),
            }
            contents = (
                payload,
                c_header.generate_header(self.name, payload).encode(),
                kernel_table.generate_kernel_table(self.name, payload).encode(),
                c_header.generate_source(self.name, payload).encode(),
                serialize.dumps(self.encoded.graph, about),
                text.render(report).encode(),
                report.to_json().encode(),
            )
            for suffix, content in zip(_STANDALONE_SUFFIXES, contents):
                files[self.name + suffix] = content
            if emit == "cpp":
                texts = (
                    cpp_calls.generate_header(self.name, payload),
                    cpp_calls.generate_source(self.name, payload),
                    cpp_sources.generate_list(self.name, payload, with_cmsis_nn=True),
                    cpp_sources.generate_list(self.name, payload, with_cmsis_nn=False),
                )
                for suffix, code in zip(CPP_SUFFIXES, texts, strict=True):
                    files[self.name + suffix] = code.encode()
        elif self.parts:
            payloads = [part.payload for part in self.parts]
            table = kernel_table.generate_kernel_table_of_parts(self.name, payloads, zlib.crc32(self.pte))
            files[self.name + _KERNELS_SUFFIX] = table.encode()
            files[self.name + PARTS_SUFFIX] = parts_report.to_json(self.parts_document).encode()
        if page and self.parts:
            files[self.name + PAGE_SUFFIX] = self.page().encode()
        return files

    @checked()
    def write(self, folder: Union[str, Path], emit: str = "payload", page: bool = False) -> list[Path]:
        """Writes `files` to `folder`, creating it if necessary. Removes files that an earlier compilation
        with this name wrote and this one did not. Of several processes that write to one folder, each writes all of
        its files before the next one does.

        UserError names the file that cannot be written; the files of an earlier compilation then stay unchanged. After
        a kill while files are moved into place, `Artifacts.check` reports that they do not belong together.
        """
        return self.put(folder, self.files(emit, page))

    def put(self, folder: Union[str, Path], files: Mapping[str, bytes]) -> list[Path]:
        """Does what `write` does, with what `files` returned."""
        suffixes = (*_STANDALONE_SUFFIXES, *CPP_SUFFIXES, PARTS_SUFFIX, PAGE_SUFFIX, _ETRECORD_SUFFIX)
        obsolete = [self.name + s for s in suffixes if self.name + s not in files]
        # First the file that names the program: a kill after it leaves nothing that could be taken for one compilation.
        in_order = sorted(files.items(), key=lambda item: not item[0].endswith((".graph.npz", PARTS_SUFFIX)))
        write_files(folder, dict(in_order), obsolete)
        return [Path(folder) / name for name in files]
