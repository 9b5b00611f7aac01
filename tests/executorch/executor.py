"""Says whether there are images with ExecuTorch's executor."""

from __future__ import annotations

import pytest

from tools.executors.running import UNAVAILABLE

needs_executor = pytest.mark.skipif(bool(UNAVAILABLE), reason=UNAVAILABLE or "-")
