"""Names the built-in providers so that defs.bzl can re-export them unrenamed."""

native_CcInfo = CcInfo
native_CcToolchainConfigInfo = CcToolchainConfigInfo
native_cc_common = cc_common
