"""A shard of an accuracy_test: `cmsisnn accuracy` on the shard's part of the data.

    accuracy_part.py ARGUMENTS [--firmware FILE...]

ARGUMENTS are those of `cmsisnn accuracy`. --firmware, which comes last, names the files of a firmware target, of which
the image is taken. Prints the table, writes the JSON into the test's outputs and test.xml for Bazel.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from cmsis_nn_delegate import cli
from cmsis_nn_delegate.accuracy import report


def measure(arguments: list[str], part: report.Part) -> int:
    """Returns the exit code of the command."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = cli.main(["accuracy", *arguments, "--part", str(part), "--json"])
    if printed.getvalue():  # also if the limits are not kept
        measured = report.from_json(printed.getvalue(), "the result")
        print(report.render(measured))
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if folder:
            Path(folder, f"part_{part.number}_of_{part.count}.json").write_text(printed.getvalue(), encoding="utf-8")
    return code


def write_xml(path: str, code: int) -> None:
    """Says whether the test passed. Without the file Bazel writes one with the duration, which no cache can share."""
    name = os.environ.get("TEST_TARGET", "")
    suite = ElementTree.Element("testsuite", name=name, tests="1", failures=str(int(code != 0)))
    case = ElementTree.SubElement(suite, "testcase", name=name)
    if code:
        ElementTree.SubElement(case, "failure", message=f"exit code {code}: see test.log")
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def main(argv: list[str]) -> int:
    arguments = argv[1:]
    if "--firmware" in arguments:
        at = arguments.index("--firmware")
        (image,) = (name for name in arguments[at + 1 :] if name.endswith(".elf"))
        arguments = [*arguments[:at], "--image", image]
    status = os.environ.get("TEST_SHARD_STATUS_FILE")
    if status:
        Path(status).touch()  # says that this program knows shards
    shard = int(os.environ.get("TEST_SHARD_INDEX", "0"))
    code = measure(arguments, report.Part(shard + 1, int(os.environ.get("TEST_TOTAL_SHARDS", "1"))))
    if "XML_OUTPUT_FILE" in os.environ:
        write_xml(os.environ["XML_OUTPUT_FILE"], code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv))
