"""Documents that pages are made of."""

from __future__ import annotations

from typing import Any


def parts(*reports: dict[str, Any]) -> dict[str, Any]:
    """Returns what NAME.parts.json has of a model with these reports of its parts, a refused function and a delegated
    one. Texts have characters that HTML escapes."""
    about = {"module": "<layers> (Sums)", "source": "model.py:3", "code": "x = a < b"}
    call = {"partition": 1, "call": 2, "kernel": "conv2d", "provider": "tuned"}
    delegated = {"function": "aten", "severity": "ok", "partition": 1, "calls": [call], "reason": "", "message": ""}
    refused = {
        "function": "aten.lt",
        "severity": "error",
        "partition": None,
        "calls": [],
        "reason": "unsupported-operator",
        "message": "write <that> instead",
    }
    return {
        "schema": 1,
        "name": "net",
        "target": "cortex-m55",
        "quantizer": "default",
        "whole": False,
        "work": {
            "multiplications": {"delegated": 1200, "total": 3400},
            "operators": {"delegated": 5, "total": 6},
            "calls": len(reports),
            "border_bytes": 7890,
        },
        "functions": [{**about, **delegated}, {**about, **refused}],
        "warnings": [],
        "obstacle": "1 node stays outside of the delegate: lt",
        "program_crc32": "0123abcd",
        "parts": list(reports),
    }
