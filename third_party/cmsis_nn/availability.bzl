"""Whether CMSIS-NN can be built, and if not, why.

Loading this file resolves @cmsis_nn the first time, and when CMSIS_NN_DIR has changed: without that variable the
pinned commit is fetched.
"""

load("@cmsis_nn//:info.bzl", "SOURCE")

# As SOURCE of external_source.bzl.
CMSIS_NN = SOURCE

# For target_compatible_with of what needs it: where CMSIS-NN is absent, `bazel test //...` then skips
# the target, and says so of a test.
REQUIRES_CMSIS_NN = [] if SOURCE.available else ["//third_party/cmsis_nn:present"]

# The same for libraries that need it: they can be looked at, and fail to compile with the reason, but
# `bazel build //...` leaves them out.
CMSIS_NN_LIBRARY_TAGS = [] if SOURCE.available else ["manual"]
