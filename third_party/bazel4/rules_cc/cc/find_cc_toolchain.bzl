"""Toolchain lookup, from the copy inside Bazel."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

CC_TOOLCHAIN_TYPE = "@bazel_tools//tools/cpp:toolchain_type"

find_cc_toolchain = find_cpp_toolchain

# buildifier: disable=unused-variable
def use_cc_toolchain(mandatory = True):
    """The `toolchains` of a rule that needs a C++ toolchain (always mandatory in Bazel 4)."""
    return [CC_TOOLCHAIN_TYPE]
