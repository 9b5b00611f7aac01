"""The page of a model that is not one payload: what is delegated, what is not and why, and then each part."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, Optional

from ..image_sizes import ImageSizes
from . import image
from .render import NO_LIMITS, page, shown_of

Document = Mapping[str, Any]


def render_parts(
    parts: Document,
    against: Optional[Document] = None,
    *,
    accuracy: Optional[Document] = None,
    firmware: Optional[tuple[str, ImageSizes]] = None,
    limits: Mapping[str, int] = NO_LIMITS,
) -> str:
    """Returns the page of a NAME.parts.json as HTML.

    against: an earlier NAME.parts.json, of which the page shows the differences.
    accuracy: of the whole model; without it the page has no noise.
    firmware: the name and the sizes of an image.
    limits: in bytes, of "arena", which is that of the largest part, and "flash", of all payloads.

    UserError if the package with the charts' scripts is missing.
    """
    before = [] if against is None else against["parts"]
    pairs = zip_longest(parts["parts"], before[: len(parts["parts"])])
    shown = [shown_of(report, None, earlier, f"part{i}-") for i, (report, earlier) in enumerate(pairs, 1)]
    drawn = {} if firmware is None else {"flash-map": image.flash_map(firmware[1])}
    for part in shown:
        drawn.update(part["charts"])
    return page(
        {"parts": parts, "charts": drawn},
        parts=parts,
        shown=shown,
        sizes=_sizes(parts),
        old={} if against is None else _sizes(against),
        accuracy=accuracy,
        firmware=firmware,
        limits=limits,
    )


def _sizes(parts: Document) -> dict[str, int]:
    """Returns the figures that are compared with those of another compilation."""
    reports, work = parts["parts"], parts["work"]
    return {
        "arena": max((report["arena"]["nbytes"] for report in reports), default=0),
        "flash": sum(report["flash_bytes"] for report in reports),
        "border": work["border_bytes"],
        "operators": work["operators"]["delegated"],
        "parts": len(reports),
    }
