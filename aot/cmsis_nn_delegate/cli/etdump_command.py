"""`cmsisnn etdump`: writes what a device's profile image printed for ExecuTorch's Inspector."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..files.outputs import check_writable, write_files
from ..runner import etdump
from ..runner.result import RunnerError, parse_report
from ..support.errors import UserError


def run(arguments: argparse.Namespace) -> int:
    uart, output = Path(arguments.uart), Path(arguments.output)
    check_writable(output.parent, [output.name])
    try:
        dump = etdump.from_report(parse_report(uart.read_text(encoding="utf-8", errors="replace")))
    except OSError as error:
        raise UserError(f"{uart} cannot be read: {error}") from error
    except (RunnerError, ValueError) as error:
        raise UserError(f"{uart}: {error}") from error
    write_files(output.parent, {output.name: dump})
    print(f"Written\n  {output}")
    return 0
