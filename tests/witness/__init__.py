"""Comparisons with TensorFlow Lite Micro: see README.md. Skipped if tflite-micro is not installed."""

import pytest

pytest.importorskip(
    "tflite_micro",
    reason="tflite-micro is not in the Python environment: install third_party/python/requirements.lock "
    "(its wheels are for Linux on x86-64)",
)
