"""The kernels that are fuzzed: the portable ones, CMSIS-NN's plain C, and its code for the DSP extension."""

load("//third_party/cmsis_nn:availability.bzl", "CMSIS_NN", "REQUIRES_CMSIS_NN")

_CMSIS_NN_SOURCES = ["//runtime/kernels/cmsis_nn:sources"] + (
    ["//third_party/cmsis_nn:sources"] if CMSIS_NN.available else []
)

_CMSIS_NN_DEPS = ["//third_party/cmsis_nn:headers"]

# CMSIS-NN lets accumulators overflow, like its reference (TFLite Micro's int32), and shifts negative values to the
# left: both wrap on every core and compiler that it supports. All other checks are on.
_CMSIS_NN_WITHOUT = [
    "shift",
    "signed-integer-overflow",
]

# CMSIS-NN's code for cores with the DSP extension, with the instructions in C. The payloads are also for the
# extension, because runtime/payload/kernel.h uses the same macros.
_DSP_COPTS = [
    "-include",
    "tests/fuzz/dsp_on_host.h",
]

_DSP_DEFINES = [
    "WITH_CMSIS_NN",
    "__ARM_ARCH_PROFILE=77",  # 'M'
    "__ARM_FEATURE_DSP=1",
]

# name -> everything that differs between the variants; `without` lists the checks that are off, `requires`
# is for target_compatible_with.
VARIANTS = {
    "portable": struct(
        available = True,
        copts = [],
        defines = [],
        deps = [],
        reason = "",
        requires = [],
        seeds = "seeds_portable.bin",
        srcs = [],
        without = [],
    ),
    "cmsis_nn": struct(
        available = CMSIS_NN.available,
        copts = [],
        defines = ["WITH_CMSIS_NN"],
        deps = _CMSIS_NN_DEPS,
        reason = CMSIS_NN.reason,
        requires = REQUIRES_CMSIS_NN,
        seeds = "seeds_scalar.bin",
        srcs = _CMSIS_NN_SOURCES,
        without = _CMSIS_NN_WITHOUT,
    ),
    "cmsis_nn_dsp": struct(
        available = CMSIS_NN.available,
        copts = _DSP_COPTS,
        defines = _DSP_DEFINES,
        deps = _CMSIS_NN_DEPS,
        reason = CMSIS_NN.reason,
        requires = REQUIRES_CMSIS_NN,
        seeds = "seeds_dsp.bin",
        srcs = _CMSIS_NN_SOURCES + ["dsp_on_host.h"],
        without = _CMSIS_NN_WITHOUT,
    ),
}
