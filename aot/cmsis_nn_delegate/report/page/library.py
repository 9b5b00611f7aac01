"""The scripts that draw the page's charts: Vega, Vega-Lite and Vega-Embed, from the package vl-convert-python."""

from __future__ import annotations

import functools
import importlib.metadata

from ...support.errors import UserError

_PACKAGE = "vl-convert-python"


def check_installed() -> None:
    """UserError says what to install if the package is missing."""
    try:
        importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise UserError(
            f"the page needs the package {_PACKAGE}, which is not installed: `pip install {_PACKAGE}`, or install "
            "cmsis_nn_delegate with its extra `page`; --json and the text need nothing"
        ) from None


@functools.cache
def scripts() -> str:
    """Returns JavaScript that defines `vegaEmbed`. It loads nothing. UserError if the package is missing."""
    check_installed()
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # the stub lacks its default
    return bundle


def notice() -> str:
    """Returns whose the scripts are and their licences: the text of the package, which is the one that most of them
    have, and what differs from it."""
    files = importlib.metadata.files(_PACKAGE) or ()
    texts = [file.read_text() for file in files if file.name.upper().startswith("LICENSE")]
    return "\n\n".join([_HOLDERS, *texts])


_HOLDERS = """The scripts below were bundled by vl-convert-python, whose licence follows (BSD-3-Clause).
Vega, Vega-Lite, Vega-Embed, Vega-Tooltip: Copyright University of Washington Interactive Data Lab, BSD-3-Clause, with
the conditions and the disclaimer of the licence that follows. They contain d3: Copyright Mike Bostock, ISC."""
