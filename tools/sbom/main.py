"""Writes an SPDX bill of materials.

    bazel run //:sbom -- image IMAGE.elf -o IMAGE.spdx.json     # with IMAGE.size.json beside it
    bazel run //:sbom -- wheel FILE.whl -o FILE.spdx.json

In a build, `sbom` of sbom.bzl does the first.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.sbom import bill


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="sbom", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for command, what in [("image", "IMAGE.elf"), ("wheel", "FILE.whl")]:
        of = commands.add_parser(command)
        of.add_argument("file", metavar=what, type=Path)
        of.add_argument("-o", "--output", required=True, type=Path, help="a name that ends with .spdx.json")
        if command == "image":
            of.add_argument("--name", help="of the image; default: that of the file")
    args = parser.parse_args(argv)
    if not args.output.name.endswith(".spdx.json"):
        parser.error("the name of the output must end with .spdx.json")
    # `bazel run` starts elsewhere.
    folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    file = folder / args.file
    try:
        if args.command == "image":
            report = bill.read_size_report(file.with_suffix(".size.json"))
            document = bill.of_image(args.name or file.stem, file, report)
        else:
            document = bill.of_wheel(file)
        bill.write(document, folder / args.output)
    except (OSError, ValueError) as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
