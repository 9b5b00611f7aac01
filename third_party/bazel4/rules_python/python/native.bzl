"""Names the built-in providers so that defs.bzl can re-export them unrenamed."""

native_PyInfo = PyInfo
native_PyRuntimeInfo = PyRuntimeInfo
