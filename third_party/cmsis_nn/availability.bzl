"""Whether CMSIS-NN can be built, and if not, why.

Loading this file resolves @cmsis_nn the first time, and again after CMSIS_NN_DIR has changed. Without that
variable, it fetches the pinned commit.
"""

load("@cmsis_nn//:info.bzl", "SOURCE")

# Like SOURCE in external_source.bzl.
CMSIS_NN = SOURCE

# For target_compatible_with of targets that need CMSIS-NN: without it, `bazel test //...` skips the target, and
# reports skipped tests.
REQUIRES_CMSIS_NN = [] if SOURCE.available else ["//third_party/cmsis_nn:present"]

# For tags of libraries that need it: they can be analyzed, and compiling them fails with the reason, but
# `bazel build //...` leaves them out.
CMSIS_NN_LIBRARY_TAGS = [] if SOURCE.available else ["manual"]
