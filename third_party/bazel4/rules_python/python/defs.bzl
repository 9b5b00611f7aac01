"""rules_python for Bazel < 7 in WORKSPACE mode: the rules are native there."""

load("@bazel_tools//tools/python:toolchain.bzl", _py_runtime_pair = "py_runtime_pair")
load(":native.bzl", "native_PyInfo", "native_PyRuntimeInfo")

py_binary = native.py_binary
py_library = native.py_library
py_runtime = native.py_runtime
py_runtime_pair = _py_runtime_pair
py_test = native.py_test

PyInfo = native_PyInfo
PyRuntimeInfo = native_PyRuntimeInfo
