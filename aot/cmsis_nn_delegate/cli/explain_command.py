"""`cmsisnn explain`: says for every function of a model whether it is delegated, and why not."""

from __future__ import annotations

import argparse
import contextlib
import sys

from ..report import explanation
from .model import compiled_model
from .printable import printable


def run(arguments: argparse.Namespace) -> int:
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        compiled = compiled_model(arguments)
    if arguments.json:
        sys.stdout.write(explanation.to_json(compiled))
    else:
        print(printable(f"\n{explanation.render(compiled)}"))
    return 1 if compiled.refused and arguments.strict else 0
