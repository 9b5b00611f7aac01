"""Whether ExecuTorch's own executor can be built for a device, and if not, why.

Loading this file resolves @executorch and @flatbuffers: only packages that build or test the executor
load it.
"""

load("@executorch//:info.bzl", _EXECUTORCH = "SOURCE")
load("@flatbuffers//:info.bzl", _FLATBUFFERS = "SOURCE")

# Like SOURCE in external_source.bzl.
EXECUTOR = struct(
    available = _EXECUTORCH.available and _FLATBUFFERS.available,
    origin = _EXECUTORCH.origin,
    reason = " ".join([source.reason for source in [_EXECUTORCH, _FLATBUFFERS] if source.reason]),
)
